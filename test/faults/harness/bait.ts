import { callerOf, count } from "./caller.ts";
import type { Node } from "./cluster.ts";
import { type ShownEvent, say } from "./events.ts";
import type { Arena } from "./faults.ts";
import { newRecord, type TaskRecord } from "./model.ts";

/** So many at a time. */
const many = 8;
const attemptMs = 4_000;
/** Whoever writes later than this after a process woke is not its old run, which goes on at once. */
const atOnceMs = 1_500;

/**
 * Tasks that a process itself runs and sleeps in, for so short a time that it would
 * go on with them in the moment it wakes from a longer stand-still: it must not.
 * Whoever took them over sleeps anew, and writes later. The answer is to be told when
 * it wakes.
 */
export async function layBait(arena: Arena, node: Node, sleepSeconds: number): Promise<() => void> {
  const laid = await Promise.all(Array.from({ length: many }, () => createFor(arena, [node], "bait", `[[sleep ${sleepSeconds}]]`)));
  return () => {
    for (const task of laid) task.wokeAt = Date.now();
  };
}

/** True when a task that was a bait went on under another fence than its process had. */
export const wasTakenOver = ({ wokeAt }: TaskRecord, events: readonly ShownEvent[]): boolean =>
  wokeAt !== undefined && (events.findLast(({ type }) => type === "assistant_message")?.timestamp ?? 0) > wokeAt + atOnceMs;

/** Tasks that need new pages of the database whatever room is left in the old ones; resolves when they are acknowledged. */
export async function createHeavy(arena: Arena): Promise<void> {
  const letter = () => String.fromCodePoint(97 + arena.dice.below(26));
  const text = () => Array.from({ length: 15_000 }, letter).join("");
  await Promise.all(Array.from({ length: many }, () => createFor(arena, arena.setUp.cluster.nodes, "heavy", `[[value "${text()}"]]`)));
}

/** A fault's own task, once it is acknowledged and has begun: it says something before what is in between, and after it. */
async function createFor(arena: Arena, nodes: readonly Node[], story: string, between: string): Promise<TaskRecord> {
  const { model, apiKey, dice, tally } = arena;
  const caller = callerOf({ nodes, key: apiKey, dice, tally, attemptMs });
  const task = newRecord(`own${model.tasks.length}`, story);
  model.tasks.push(task);
  const content = `[[say ${task.name} 1]] ${between} [[say ${task.name} 2]]`;
  const { body } = await caller.settle("task.create", { message: { content } }, { key: task.name });
  task.id = body["task_id"];
  task.messages.push(content);
  task.segments[0]?.push(say(`${task.name} 1`), say(`${task.name} 2`));
  count(tally, "tasks");
  await caller.settle("task.detail", { task_id: task.id, after_seq: 2, wait_seconds: 2 });
  return task;
}
