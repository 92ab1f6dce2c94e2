import type { Clock } from "../core/clock.ts";
import type { Staging } from "../core/files/staging.ts";
import type { Ids } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";
import { structuredResult } from "../core/structured-output/result.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import { type Approval, allowed, ask, confirm, type Ending, fail, finish } from "../core/tasks/lifecycle.ts";
import type { Task } from "../core/tasks/task.ts";
import type { PriceTable } from "../core/usage/price.ts";
import { costOf, spend, type Used } from "../core/usage/spend.ts";
import type { SaveSite } from "../core/websites/save.ts";
import type { Outcome, Progress, Turn } from "./agent.ts";
import { attached, keepEvents, keepFiles, type StagedFile } from "./artefacts.ts";
import { Lost } from "./steps.ts";
import { beginSubtasks } from "./subtasks.ts";

/** What ending a turn needs. */
export interface EndingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly staging: Staging;
  /** What is used costs nothing unless given. */
  readonly prices?: PriceTable;
  readonly saveSite: SaveSite;
}

/** The most milliseconds for which an ending waits until the events before it lie in the past. */
const settleMs = 50;

/** A task after something was written. */
export interface Written extends Task {
  /** What it cost has overdrawn a budget: the run may not go on. */
  readonly overdrawn: boolean;
}

/** Writes what an agent has done. @throws Lost when the run is no longer ours. */
export async function append(task: Task, done: Done, parts: EndingParts): Promise<Written> {
  const { store, clock, ids, prices = {} } = parts;
  return store.change(async (tx) => {
    const now = clock.now();
    const events = await written(tx, task, done, parts);
    const cost = await costOf(tx, task, usedIn(done), prices);
    const set = { addCredits: cost.charge.credits };
    const after = ours(await tx.tasks.advance(task.id, { now, when: { fence: task.fence }, set, events }));
    return { ...after, overdrawn: await spend(tx, after, cost, now, ids) };
  });
}

const noUsage = { inputTokens: 0, outputTokens: 0, toolCalls: 0 };

/** @param turns that end well with it. */
const usedIn = ({ credits = 0, usage = noUsage, settles = [] }: Done, turns = 0): Used => ({
  ...{ credits, usage, turns },
  settles: settles.flatMap(({ id }) => (id === "" ? [] : [id])),
});

/** What an agent has done, its files in the storage. */
export type Done = Progress<StagedFile>;

/** Ends the turn of a task whose budget is spent (contract/v2.md 12.2). */
export const endSpent = (task: Task, parts: EndingParts): Promise<Task | null> =>
  endTurn(
    task,
    { events: [] },
    { kind: "fail", errorType: "quota_limit", content: "The credits are used up." },
    { outputSchema: null },
    parts,
  );
/** Events as they are written, with what they bring about: artefacts and subtasks. */
async function written(tx: Tx, task: Task, { events }: Done, { clock, staging, saveSite }: EndingParts): Promise<readonly NewEvent[]> {
  await beginSubtasks(tx, task, events, { clock });
  return keepEvents(tx, task, events, staging, saveSite);
}

/** Whatever else the change has written goes with it when the run is no longer ours. */
function ours(task: Task | null): Task {
  if (!task) throw new Lost();
  return task;
}

/**
 * Writes how a turn came out, together with what was done last; the task as its next
 * run finds it, null when there is none.
 */
export async function endTurn(
  task: Task,
  done: Done,
  outcome: Outcome<StagedFile>,
  turn: Pick<Turn, "outputSchema">,
  parts: EndingParts,
): Promise<Task | null> {
  if (outcome.kind === "abandon") {
    if (done.events.length > 0) await append(task, done, parts);
    return null;
  }
  const files = outcome.kind === "finish" ? outcome.files : undefined;
  // A turn that fails has no price of its own.
  const used = usedIn(done, outcome.kind === "finish" || outcome.kind === "ask" ? 1 : 0);
  if (outcome.kind !== "confirm") return end(task, done, used, endingOf(outcome, turn, parts.ids), parts, files);
  const { action: kind, variant, description, params } = outcome;
  const approval: Approval = { kind, variant, actionId: parts.ids.short(), description, params };
  return task.allowed.includes(kind) ? pass(task, done, approval, parts) : end(task, done, used, confirm(approval), parts);
}

function endingOf(
  outcome: Exclude<Outcome<StagedFile>, { kind: "abandon" | "confirm" }>,
  { outputSchema }: Pick<Turn, "outputSchema">,
  ids: Ids,
): Ending {
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
  used: Used,
  ending: Ending,
  parts: EndingParts,
  files: readonly StagedFile[] = [],
): Promise<Task | null> {
  const { store, clock, ids, staging, prices = {} } = parts;
  const { id, fence } = task;
  const { wait, memo } = ending;
  const count = done.events.length + ending.events.length;
  // The events take the milliseconds between the last one and now, so that none is ahead of the next request.
  const ahead = task.lastTimestamp + count - clock.now();
  if (ahead > 0) await clock.sleep(Math.min(settleMs, ahead));
  return store.change(async (tx) => {
    const now = clock.now() - count;
    const before = await written(tx, task, done, parts);
    const attachments = await keepFiles(tx, task, files, staging);
    const cost = await costOf(tx, task, used, prices);
    const addCredits = cost.charge.credits;
    const after = (told: readonly NewEvent[]) => [...before, ...told.map((event) => attached(event, attachments))];
    const ended = await tx.tasks.advance(id, {
      now,
      when: { fence, consumed: true },
      set: { ...ending.set, addCredits },
      events: after(ending.events),
    });
    // What is waited for stands right before the status.
    if (ended && wait) await note(tx, ended, ended.lastSeq - 1, wait, "pending");
    const set = { beginTurn: true, memo, addCredits } as const;
    const next = ended ?? ours(await tx.tasks.advance(id, { now, when: { fence }, set, events: after(ending.said) }));
    await spend(tx, next, cost, clock.now(), ids);
    return ended ? null : next;
  });
}

/** Does without asking what was allowed before: the same turn goes on, with one decision more. */
async function pass(task: Task, done: Done, approval: Approval, parts: EndingParts): Promise<Written> {
  const { store, clock, ids, prices = {} } = parts;
  return store.change(async (tx) => {
    const now = clock.now();
    const events = [...(await written(tx, task, done, parts)), ...allowed(approval).events];
    const cost = await costOf(tx, task, usedIn(done), prices);
    const set = { addCredits: cost.charge.credits };
    const next = ours(await tx.tasks.advance(task.id, { now, when: { fence: task.fence }, set, events }));
    await note(tx, next, next.lastSeq, approval, "accepted");
    return { ...next, overdrawn: await spend(tx, next, cost, now, ids) };
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
