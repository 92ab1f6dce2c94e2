import { expect, test } from "vitest";
import type { ShownEvent } from "./harness/events.ts";
import { newRecord, type TaskRecord } from "./harness/model.ts";
import { violationsOf as violationsIn } from "./harness/proof.ts";

type Body = Omit<ShownEvent, "id" | "seq" | "timestamp">;

const userMessage = (content: string): Body => ({ type: "user_message", user_message: { content } });
const says = (content: string): Body => ({ type: "assistant_message", assistant_message: { content } });
const is = (agent_status: string): Body => ({ type: "status_update", status_update: { agent_status } });
const stop: Body = { type: "user_stop" };

const numbered = (bodies: readonly Body[]): ShownEvent[] =>
  bodies.map((body, i) => ({ id: `ev_${i + 1}`, seq: i + 1, timestamp: 1_000 + i, ...body }));

/** Two messages, the second while the agent ran. */
const plain = [
  userMessage("one"),
  is("running"),
  says("a"),
  says("b"),
  userMessage("two"),
  says("c"),
  says("Done."),
  is("stopped"),
];
/** Stopped before it said everything, and continued. */
const cutShort = [
  userMessage("one"),
  is("running"),
  says("a"),
  stop,
  is("stopped"),
  userMessage("two"),
  is("running"),
  says("c"),
  is("stopped"),
];

function record(segments: readonly string[][], changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    ...newRecord("t", "plain"),
    id: "t",
    messages: ["one", "two"],
    segments: segments.map((tokens) => [...tokens]),
    ...changes,
  };
}
const wholly = record([["say a", "say b", "say c"]]);
const inPart = record([["say a", "say b"], ["say c"]]);

const violationsOf = (task: TaskRecord, bodies: readonly Body[], status = "stopped") =>
  [...violationsIn(task, status, numbered(bodies))].join("\n");
const without = (bodies: readonly Body[], i: number): Body[] => bodies.filter((_, at) => at !== i);

test("a history that matches the acknowledged changes has no violation, complete or cut short by a stop", () => {
  expect(violationsOf(wholly, plain)).toBe("");
  expect(violationsOf(inPart, cutShort)).toBe("");
});

test.each<[string, TaskRecord, readonly Body[], string]>([
  ["an acknowledged message that is lost", wholly, without(plain, 4), "its messages are"],
  [
    "a message that is there twice",
    wholly,
    [...plain.slice(0, 5), userMessage("two"), ...plain.slice(5)],
    "its messages are",
  ],
  ["an event of the agent that is lost", wholly, without(plain, 3), "its agent wrote"],
  [
    "an event of an old fence, right behind its like",
    wholly,
    [...plain.slice(0, 4), says("b"), ...plain.slice(4)],
    "its agent wrote",
  ],
  [
    "an event of an old fence, after the end",
    wholly,
    [...plain, says("c")],
    "no runner writes after the end",
  ],
  [
    "an event of a run that was stopped",
    inPart,
    [...cutShort.slice(0, 7), says("b"), ...cutShort.slice(7)],
    "its agent wrote",
  ],
  ["an acknowledged stop that is lost", inPart, plain, "it was stopped 0 times"],
  [
    "a stop that is there twice",
    inPart,
    [...cutShort.slice(0, 4), stop, ...cutShort.slice(4)],
    "it was stopped 2 times",
  ],
  ["two ends of one turn", wholly, [...plain, is("stopped")], "one end per turn"],
])("it finds %s", (_, task, bodies, flaw) => {
  expect(violationsOf(task, bodies)).toContain(flaw);
});

test("it finds a gap and a duplicate in the numbers", () => {
  const events = numbered(plain);
  const shifted = events.map((event) => (event.seq < 4 ? event : { ...event, seq: event.seq + 1 }));
  expect([...violationsIn(wholly, "stopped", shifted)].join()).toContain("numbers run from 1");
  const doubled = events.map((event) => (event.seq < 4 ? event : { ...event, seq: event.seq - 1 }));
  expect([...violationsIn(wholly, "stopped", doubled)].join()).toContain("numbers run from 1");
});

test("it finds a task that never ends, or failed", () => {
  const running = plain.slice(0, -1);
  expect(violationsOf(wholly, running, "running")).toContain("it is running at the end");
  expect(violationsOf(wholly, [...running, is("error")], "error")).toContain("it is error at the end");
});

test("it finds events that a watcher missed, received twice, or received with other content", () => {
  const received = numbered(plain).map((event) => JSON.stringify(event));
  const watched = (events: string[]) =>
    violationsOf(
      record([["say a", "say b", "say c"]], { watches: [{ events, texts: [], violations: [] }] }),
      plain,
    );
  expect(watched(received)).toBe("");
  for (const otherwise of [
    received.slice(1),
    [...received, ...received.slice(-1)],
    received.with(3, received[2] ?? ""),
  ])
    expect(watched(otherwise)).toContain("a watcher saw");
});
