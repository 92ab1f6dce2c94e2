import { expect } from "vitest";
import type { TaskRig } from "./task-rig.ts";
import { untilStatus } from "./until.ts";
import type { V2Body } from "./wires.ts";

/** The text that the agent of the story writes word by word. */
export const storyWords = "one two three four five six seven eight nine ten";
/** The message of the story, which every door tells: deltas, a question, an approval and a file. A turn that is stopped follows. */
export const storyMessage = `[[stream ${storyWords}]] [[ask Which colour? | red | blue]] [[confirm terminalExecute]] [[file sums.csv | tea,12]] [[say Done]]`;

/** Runs the story by v2, and returns the id of the task. */
export async function tellByV2(rig: TaskRig): Promise<string> {
  const { store } = rig.service;
  const id = await rig.create(storyMessage, { interactive_mode: true });
  await untilStatus(store, id, "waiting");
  await rig.send(id, "blue");
  const detail = async () => (await rig.ann.v2("task.detail", { task_id: id })).body["task"].status_detail;
  await expect.poll(async () => (await detail())?.waiting_for_event_type).toBe("terminalExecute");
  const { waiting_for_event_id: eventId } = await detail();
  await rig.ann.v2("task.confirmAction", { task_id: id, event_id: eventId, input: { accept: true } });
  await untilStatus(store, id, "stopped");
  await rig.send(id, "[[forever]]");
  await rig.ann.v2("task.stop", { task_id: id });
  await untilStatus(store, id, "stopped");
  return id;
}

/** The events of a task without what differs from task to task. */
export const recordedStory = async (rig: TaskRig, id: string): Promise<unknown> =>
  JSON.parse(
    JSON.stringify(
      (await rig.events(id)).map(({ timestamp: _, ...event }: V2Body) => event),
      (name, value) => (/^(id|url|action_id|step_id|waiting_for_event_id|started_at|end_at)$/.test(name) ? `a ${name}` : value),
    ),
  );
