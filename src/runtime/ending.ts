import type { Clock } from "../core/clock.ts";
import type { Staging } from "../core/files/staging.ts";
import type { Ids } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";
import { structuredResult } from "../core/structured-output/result.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import { type Approval, allowed, ask, confirm, type Ending, fail, finish } from "../core/tasks/lifecycle.ts";
import type { Task } from "../core/tasks/task.ts";
import type { SaveSite } from "../core/websites/save.ts";
import type { Outcome, Progress, Turn } from "./agent.ts";
import { attached, keepEvents, keepFiles, type StagedFile } from "./artefacts.ts";
import { Lost } from "./steps.ts";

/** What ending a turn needs. */
export interface EndingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly staging: Staging;
  readonly saveSite: SaveSite;
}

/** The most milliseconds for which an ending waits until the events before it lie in the past. */
const settleMs = 50;

/** Writes what an agent has done. @throws Lost when the run is no longer ours. */
export async function append(task: Task, done: Done, { store, clock, staging, saveSite }: EndingParts): Promise<Task> {
  const set = done.credits ? { addCredits: done.credits } : {};
  return store.change(async (tx) => {
    const events = await keepEvents(tx, task, done.events, staging, saveSite);
    return ours(await tx.tasks.advance(task.id, { now: clock.now(), when: { fence: task.fence }, set, events }));
  });
}

/** What an agent has done, its files in the storage. */
type Done = Progress<StagedFile>;

/** Whatever else the change has written goes with it when the run is no longer ours. */
function ours(task: Task | null): Task {
  if (!task) throw new Lost();
  return task;
}

/**
 * Writes how a turn came out, together with what was done last; the task as its next
 * run finds it, null when there is none.
 */
export async function endTurn(task: Task, done: Done, outcome: Outcome<StagedFile>, turn: Turn, parts: EndingParts): Promise<Task | null> {
  if (outcome.kind === "abandon") {
    if (done.events.length > 0) await append(task, done, parts);
    return null;
  }
  const files = outcome.kind === "finish" ? outcome.files : undefined;
  if (outcome.kind !== "confirm") return end(task, done, endingOf(outcome, turn, parts.ids), parts, files);
  const { action: kind, variant, description, params } = outcome;
  const approval: Approval = { kind, variant, actionId: parts.ids.short(), description, params };
  return task.allowed.includes(kind) ? pass(task, done, approval, parts) : end(task, done, confirm(approval), parts);
}

function endingOf(outcome: Exclude<Outcome<StagedFile>, { kind: "abandon" | "confirm" }>, { outputSchema }: Turn, ids: Ids): Ending {
  if (outcome.kind === "fail") return fail(outcome.errorType, outcome.content);
  if (outcome.kind === "ask") return ask(outcome.content, outcome.options, outcome.memo, ids.short());
  return finish(outcome.content, outputSchema === null ? undefined : structuredResult(outputSchema, outcome.output));
}

/**
 * Leaves `running`, unless a message came in that the turn has not seen: then what
 * was said stands, and the next turn begins with no `stopped` between.
 */
async function end(
  task: Task,
  done: Done,
  ending: Ending,
  { store, clock, staging, saveSite }: EndingParts,
  files: readonly StagedFile[] = [],
): Promise<Task | null> {
  const { id, fence } = task;
  const { wait, memo } = ending;
  const count = done.events.length + ending.events.length;
  const addCredits = done.credits ?? 0;
  // The events take the milliseconds between the last one and now, so that none is ahead of the next request.
  const ahead = task.lastTimestamp + count - clock.now();
  if (ahead > 0) await clock.sleep(Math.min(settleMs, ahead));
  return store.change(async (tx) => {
    const now = clock.now() - count;
    const before = await keepEvents(tx, task, done.events, staging, saveSite);
    const attachments = await keepFiles(tx, task, files, staging);
    const after = (told: readonly NewEvent[]) => [...before, ...told.map((event) => attached(event, attachments))];
    const ended = await tx.tasks.advance(id, {
      now,
      when: { fence, consumed: true },
      set: { ...ending.set, addCredits },
      events: after(ending.events),
    });
    // What is waited for stands right before the status.
    if (ended && wait) await note(tx, ended, ended.lastSeq - 1, wait, "pending");
    if (ended) return null;
    const set = { beginTurn: true, memo, addCredits } as const;
    return ours(await tx.tasks.advance(id, { now, when: { fence }, set, events: after(ending.said) }));
  });
}

/** Does without asking what was allowed before: the same turn goes on, with one decision more. */
async function pass(task: Task, done: Done, approval: Approval, { store, clock, staging, saveSite }: EndingParts): Promise<Task> {
  const set = { addCredits: done.credits ?? 0 };
  return store.change(async (tx) => {
    const events = [...(await keepEvents(tx, task, done.events, staging, saveSite)), ...allowed(approval).events];
    const next = ours(await tx.tasks.advance(task.id, { now: clock.now(), when: { fence: task.fence }, set, events }));
    await note(tx, next, next.lastSeq, approval, "accepted");
    return next;
  });
}

async function note(
  tx: Tx,
  { id, spaceId }: Task,
  seq: number,
  { kind, variant, actionId }: Approval,
  state: "pending" | "accepted",
): Promise<void> {
  await tx.actions.insert({ taskId: id, spaceId, seq, kind, variant, actionId, state, input: null });
}
