import { expect, test } from "vitest";
import type { ShownEvent } from "./harness/events.ts";
import { newRecord, type TaskRecord } from "./harness/model.ts";
import { flawsOf } from "./harness/proof.ts";

type Body = Omit<ShownEvent, "id" | "seq" | "timestamp">;

const asked = (content: string): Body => ({ type: "user_message", user_message: { content } });
const says = (content: string): Body => ({ type: "assistant_message", assistant_message: { content } });
const is = (agent_status: string): Body => ({ type: "status_update", status_update: { agent_status } });
const stop: Body = { type: "user_stop" };

const numbered = (bodies: readonly Body[]): ShownEvent[] =>
  bodies.map((body, i) => ({ id: `ev_${i + 1}`, seq: i + 1, timestamp: 1_000 + i, ...body }));

/** Asked twice, the second time while it ran. */
const plain = [asked("one"), is("running"), says("a"), says("b"), asked("two"), says("c"), says("Done."), is("stopped")];
/** Stopped before it said all, and asked again. */
const cutShort = [asked("one"), is("running"), says("a"), stop, is("stopped"), asked("two"), is("running"), says("c"), is("stopped")];

function record(segments: readonly string[][], changes: Partial<TaskRecord> = {}): TaskRecord {
  return { ...newRecord("t", "plain"), id: "t", messages: ["one", "two"], segments: segments.map((tokens) => [...tokens]), ...changes };
}
const wholly = record([["say a", "say b", "say c"]]);
const inPart = record([["say a", "say b"], ["say c"]]);

const flaws = (task: TaskRecord, bodies: readonly Body[], status = "stopped") => [...flawsOf(task, status, numbered(bodies))].join("\n");
const without = (bodies: readonly Body[], i: number): Body[] => bodies.filter((_, at) => at !== i);

test("a history that is as acknowledged has no flaw, whole or cut short by a stop", () => {
  expect(flaws(wholly, plain)).toBe("");
  expect(flaws(inPart, cutShort)).toBe("");
});

test.each<[string, TaskRecord, readonly Body[], string]>([
  ["an acknowledged message that is lost", wholly, without(plain, 4), "its messages are"],
  ["a message that is there twice", wholly, [...plain.slice(0, 5), asked("two"), ...plain.slice(5)], "its messages are"],
  ["an event of the agent that is lost", wholly, without(plain, 3), "its agent wrote"],
  ["an event of an old fence, right behind its like", wholly, [...plain.slice(0, 4), says("b"), ...plain.slice(4)], "its agent wrote"],
  ["an event of an old fence, after the end", wholly, [...plain, says("c")], "no runner writes after the end"],
  ["an event of a run that was stopped", inPart, [...cutShort.slice(0, 7), says("b"), ...cutShort.slice(7)], "its agent wrote"],
  ["an acknowledged stop that is lost", inPart, plain, "it was stopped 0 times"],
  ["a stop that is there twice", inPart, [...cutShort.slice(0, 4), stop, ...cutShort.slice(4)], "it was stopped 2 times"],
  ["two ends of one turn", wholly, [...plain, is("stopped")], "one end per turn"],
])("it finds %s", (_, task, bodies, flaw) => {
  expect(flaws(task, bodies)).toContain(flaw);
});

test("it finds a gap and a double in the numbers", () => {
  const events = numbered(plain);
  const shifted = events.map((event) => (event.seq < 4 ? event : { ...event, seq: event.seq + 1 }));
  expect([...flawsOf(wholly, "stopped", shifted)].join()).toContain("numbers run from 1");
  const doubled = events.map((event) => (event.seq < 4 ? event : { ...event, seq: event.seq - 1 }));
  expect([...flawsOf(wholly, "stopped", doubled)].join()).toContain("numbers run from 1");
});

test("it finds a task that runs for ever, or failed", () => {
  const running = plain.slice(0, -1);
  expect(flaws(wholly, running, "running")).toContain("it is running at the end");
  expect(flaws(wholly, [...running, is("error")], "error")).toContain("it is error at the end");
});

test("it finds what a watcher did not see, or saw twice, or saw otherwise", () => {
  const seen = numbered(plain).map((event) => JSON.stringify(event));
  const watched = (events: string[]) => flaws(record([["say a", "say b", "say c"]], { watches: [{ events, flaws: [] }] }), plain);
  expect(watched(seen)).toBe("");
  for (const otherwise of [seen.slice(1), [...seen, ...seen.slice(-1)], seen.with(3, seen[2] ?? "")])
    expect(watched(otherwise)).toContain("a watcher saw");
});
