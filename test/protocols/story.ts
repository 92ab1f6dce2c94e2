import { expect } from "vitest";
import type { Person, Service } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import type { V2Body } from "../support/wires.ts";

/** The text that the agent of the story writes word by word. */
export const storyWords = "one two three four five six seven eight nine ten";
/**
 * The message of the story, which every protocol runs: deltas, a question, an approval and a file. A turn
 * that is stopped follows.
 */
export const storyMessage = `[[stream ${storyWords}]] [[ask Which colour? | red | blue]] [[confirm terminalExecute]] [[file sums.csv | tea,12]] [[say Done]]`;

/**
 * Whether a text that arrived alone is a part of the agent's: deltas are hints, and a slow machine misses
 * some (spec/api.md 8.72).
 */
export const isPart = (text: unknown): boolean =>
  typeof text === "string" && text !== "" && text !== storyWords && storyWords.includes(text);

/** The steps of the story, in order. */
export const steps = ["create", "delta", "question", "answer", "approval", "file", "stop"] as const;
export type Step = (typeof steps)[number];

/** One run of the story, by a person who has no other tasks. */
export interface StoryRun {
  readonly service: Service;
  readonly person: Person;
  /** Notes that the protocol itself showed or did these steps. */
  did(...steps: readonly Step[]): void;
}

/** Runs the story through a protocol, and returns the id of the task. */
export type RunStory = (run: StoryRun) => Promise<string>;

const taskOf = async ({ v2 }: Person, id: string) => (await v2("task.detail", { task_id: id })).body["task"];

/** Waits until the task asks for the approval, and returns the id of its event. */
export async function untilApproval(person: Person, id: string): Promise<string> {
  const detail = async () => (await taskOf(person, id)).status_detail;
  await expect
    .poll(async () => (await detail())?.waiting_for_event_type, { timeout: 10_000 })
    .toBe("terminalExecute");
  return (await detail()).waiting_for_event_id;
}

/** Approves by v2, for protocols that have no approvals. */
export async function approveByV2({ service, person }: StoryRun, id: string): Promise<void> {
  const event_id = await untilApproval(person, id);
  await person.v2("task.confirmAction", { task_id: id, event_id, input: { accept: true } });
  await untilStatus(service.store, id, "stopped");
}

/** Stops by v2, for protocols that have no stop. */
export async function stopByV2({ service, person }: StoryRun, id: string): Promise<void> {
  await person.v2("task.stop", { task_id: id });
  await untilStatus(service.store, id, "stopped");
}

/**
 * The events of a story without what differs from task to task, as both `task.listMessages` and `task.watch`
 * have them.
 */
export async function recordedStory({ person, service }: StoryRun, id: string): Promise<unknown> {
  const watch = `${service.url}/v2/task.watch?task_id=${id}&after_seq=0&until_settled=true`;
  const frames = (await (await fetch(watch, { headers: person.headers })).text()).matchAll(
    /^id: \d+\nevent: \w+\ndata: (.*)$/gm,
  );
  const watched = plain(Array.from(frames, ([, data = ""]) => JSON.parse(data)));
  expect(watched).toEqual(plain(await eventsOf(person, id)));
  return watched;
}

/** All events of a task, oldest first. */
export const eventsOf = async ({ v2 }: Person, id: string): Promise<readonly V2Body[]> =>
  (await v2("task.listMessages", { task_id: id, order: "asc", verbose: true, limit: 200 })).body["messages"];

/** Events without what differs from task to task, and from one reading to the next. */
export const plain = (events: readonly V2Body[]): unknown =>
  JSON.parse(
    JSON.stringify(
      events.map(({ timestamp: _, ...event }) => event),
      (name, value) =>
        /^(id|url|action_id|step_id|waiting_for_event_id|started_at|end_at)$/.test(name)
          ? `a ${name}`
          : value,
    ),
  );
