import { violationsOfTask } from "../../support/task-invariants.ts";
import { type Caller, count } from "./caller.ts";
import { historyOf, type ShownEvent, tokenOf } from "./events.ts";
import { wasTakenOver } from "./extra-tasks.ts";
import type { Model, TaskRecord } from "./model.ts";
import { Unexpected, type Violation } from "./violation.ts";

/** Every task has ended after this time without faults. */
const endingMs = 90_000;
/** Tasks that are checked at a time. */
const atOnce = 8;

/**
 * Compares the state that the wire shows after the faults with the acknowledged changes. Nothing else is
 * read.
 */
export async function prove(caller: Caller, model: Model): Promise<readonly Violation[]> {
  const until = performance.now() + endingMs;
  const violations: Violation[] = [];
  const known = model.tasks.filter(({ id }) => id !== undefined);
  const queue = known.values();
  const prover = async () => {
    for (const task of queue) violations.push(...(await proveTask(caller, task, until)));
  };
  await Promise.all(Array.from({ length: atOnce }, prover));
  return [...violations, ...(await proveList(caller, model, known))];
}

/** Every acknowledged task exists once, and no other task exists. */
async function proveList(
  caller: Caller,
  { maybe }: Model,
  known: readonly TaskRecord[],
): Promise<readonly Violation[]> {
  const listed = await listAll(caller);
  const [ids, expected] = [new Set(listed), new Set(known.map(({ id }) => id))];
  const unknownIds = [...ids].filter((id) => !expected.has(id));
  const unconfirmed = new Set(maybe);
  const violations: Violation[] = [];
  if (ids.size !== listed.length)
    violations.push({
      what: "tasks are listed twice",
      task: listed.filter((id, i) => listed.indexOf(id) !== i),
    });
  if (expected.size !== known.length)
    violations.push({ what: "two creations made one task", task: known.map(({ id, name }) => [id, name]) });
  for (const task of known)
    if (!ids.has(task.id ?? ""))
      violations.push({ what: `${task.name}: an acknowledged task is not listed`, task });
  for (const id of unknownIds) {
    const events = await historyOf(caller, id);
    // Each of them may have created one.
    if (!unconfirmed.delete(events[0]?.user_message?.content ?? ""))
      violations.push({ what: `task ${id} was created twice, or without a request`, task: events });
  }
  count(caller.tally, "tasks of creations without a key that were cut off", unknownIds.length);
  return violations;
}

async function listAll(caller: Caller): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor: object | undefined = {}; cursor !== undefined; ) {
    const { body } = await caller.settle("task.list", {
      limit: 100,
      order: "asc",
      scope: "standard",
      ...cursor,
    });
    ids.push(...(body["data"] as readonly { readonly id: string }[]).map(({ id }) => id));
    cursor = body["has_more"] ? { cursor: body["next_cursor"] } : undefined;
  }
  return ids;
}

async function proveTask(caller: Caller, task: TaskRecord, until: number): Promise<readonly Violation[]> {
  try {
    const status = await ended(caller, task.id ?? "", until);
    const events = await historyOf(caller, task.id ?? "");
    count(caller.tally, "events", events.length);
    if (wasTakenOver(task, events)) count(caller.tally, "tasks taken over from a process that stood still");
    const violations = [...violationsOf(task, status, events), ...(await subtaskFlaws(caller, task))];
    return violations.map((flaw) => ({
      what: `${task.name} (${task.story}): ${flaw}`,
      task: { model: task, status, events },
    }));
  } catch (thrown) {
    if (!(thrown instanceof Unexpected)) throw thrown;
    return [{ what: `${task.name} (${task.story}): ${thrown.message}`, task }];
  }
}

/** Its status, once it no longer runs. */
async function ended(caller: Caller, id: string, until: number): Promise<string> {
  for (;;) {
    const { body } = await caller.settle("task.detail", { task_id: id, wait_seconds: 2 });
    const { status } = body["task"];
    if (status !== "running" || performance.now() > until) return status;
  }
}

const checked = (events: readonly ShownEvent[]) =>
  events.map(({ status_update: update, ...event }) => ({
    ...event,
    status: update?.agent_status,
    brief: update?.brief,
    text: undefined,
  }));

/**
 * Violations of the subtasks of a task, which all end: those that it waited for have written what was due.
 */
async function subtaskFlaws(caller: Caller, { id = "", subtasks }: TaskRecord): Promise<readonly string[]> {
  const { body } = await caller.settle("task.list", { parent_task_id: id, limit: 100 });
  const flaws: string[] = [];
  const written: string[] = [];
  for (const { id: subtask, status } of body["data"] as readonly {
    readonly id: string;
    readonly status: string;
  }[]) {
    const events = await historyOf(caller, subtask);
    flaws.push(
      ...violationsOfTask({ id: subtask, status, events: checked(events) }).map(
        (flaw) => `subtask ${subtask}: ${flaw}`,
      ),
    );
    if (status !== "stopped") flaws.push(`subtask ${subtask} is ${status} at the end`);
    written.push(events.flatMap((event) => tokenOf(event) ?? []).join(", "));
  }
  if (subtasks !== undefined && !same(written.toSorted(), subtasks.toSorted()))
    flaws.push(`its subtasks wrote ${JSON.stringify(written)}, due was ${JSON.stringify(subtasks)}`);
  count(caller.tally, "subtasks", written.length);
  return flaws;
}

/** All violations of a task of the model. */
export function* violationsOf(
  task: TaskRecord,
  status: string,
  events: readonly ShownEvent[],
): Generator<string> {
  yield* violationsOfTask({ id: task.id ?? "", status, events: checked(events) });
  if (status !== "stopped") yield `it is ${status} at the end`;
  if (new Set(events.map(({ id }) => id)).size !== events.length) yield "two events have one id";
  const messages = events.flatMap(({ user_message: message }) => message?.content ?? []);
  if (!same(messages, task.messages))
    yield `its messages are ${JSON.stringify(messages)}, acknowledged were ${JSON.stringify(task.messages)}`;
  yield* segmentFlaws(task.segments, segmentsOf(events));
  for (const watch of task.watches) yield* watchFlaws(watch, events);
}

/** The agent's output, up to each stop and after the last. */
function segmentsOf(events: readonly ShownEvent[]): readonly string[][] {
  const segments: string[][] = [[]];
  for (const event of events) {
    if (event.type === "user_stop") segments.push([]);
    const token = tokenOf(event);
    if (token !== null) segments.at(-1)?.push(token);
  }
  return segments;
}

/** An event of an old fence would be extra, or at the wrong position. */
function* segmentFlaws(expected: readonly string[][], found: readonly string[][]): Generator<string> {
  if (found.length !== expected.length)
    return yield `it was stopped ${found.length - 1} times, acknowledged were ${expected.length - 1}`;
  for (const [i, wanted] of expected.entries()) {
    const written = found[i] ?? [];
    // A stop may arrive at any position.
    const due = i < expected.length - 1 ? wanted.slice(0, written.length) : wanted;
    if (!same(written, due))
      yield `its agent wrote ${JSON.stringify(written)}, due was ${JSON.stringify(due)}`;
  }
}

function* watchFlaws(
  { events: seen, violations: flaws }: TaskRecord["watches"][number],
  events: readonly ShownEvent[],
): Generator<string> {
  for (const violation of flaws) yield `a watcher: ${violation}`;
  const listed = events.map((event) => JSON.stringify(event));
  if (!same(seen, listed))
    yield `a watcher saw ${JSON.stringify(seen)}, listed are ${JSON.stringify(listed)}`;
}

const same = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((text, i) => text === others[i]);
