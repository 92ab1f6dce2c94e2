import { allowance } from "../core/actions/action.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import type { Staging } from "../core/files/staging.ts";
import type { Ids } from "../core/ids.ts";
import { type Observe, type RunEnding, unobserved } from "../core/observe.ts";
import { attributes } from "../core/span-names.ts";
import type { PublishTask, Store, Tx } from "../core/store.ts";
import { structuredResult } from "../core/structured-output/structured-output.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import {
  type Approval,
  allowedAction,
  ask,
  confirm,
  type Ending,
  fail,
  finish,
} from "../core/tasks/lifecycle.ts";
import { waitsOfTurnMax } from "../core/tasks/subtask-wait.ts";
import type { Task, TaskChanges, TaskWritten } from "../core/tasks/task.ts";
import { currentSpan } from "../core/trace.ts";
import { noUsage, type PriceTable } from "../core/usage/price.ts";
import { computeCost, isOutOfCredits, type RunUsage, spend, tooFewCredits } from "../core/usage/spend.ts";
import type { SaveSite } from "../core/websites/save.ts";
import type { Confirm, Hold, Outcome, Progress, Turn, WaitOutcome } from "./agent.ts";
import { type Keeping, keepEvents, keepFiles, type StagedFile, withAttachments } from "./artifacts.ts";
import { changeRun, fenceOnly, type RunGuard, RunLost } from "./steps.ts";
import { beginSubtasks } from "./subtasks.ts";
import { openWait } from "./waits.ts";

export interface EndingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publishTask: PublishTask;
  readonly staging: Staging;
  /** Prices of usage; without a table usage costs nothing. */
  readonly prices?: PriceTable;
  /** The credits that a run without reservations holds from its beginning (BUDGET_STEP); absent: none. */
  readonly budgetStep?: number;
  readonly saveSite: SaveSite;
  /** Receives how runs end. */
  readonly observe?: Observe;
}

/** How the files and sites of a run are stored for the task. */
const keepingOf = (
  { staging, saveSite }: EndingParts,
  { keepArtifact = staging.keepArtifact }: Pick<RunGuard<unknown>, "keepArtifact">,
): Keeping => ({ keepArtifact, saveSite });

/** The longest wait, in milliseconds, until the timestamps of earlier events are in the past. */
const settleMs = 50;

/** A task after a write. */
export interface WrittenTask extends Task {
  /** True when the cost has overdrawn a budget: the run must end. */
  readonly overdrawn: boolean;
}

/** Writes an agent's progress. @throws RunLost when this process has lost the run. */
export const append = (
  task: Task,
  done: StagedProgress,
  parts: EndingParts,
  held: RunGuard<WrittenTask> = fenceOnly,
): Promise<WrittenTask> =>
  changeRun(parts.store, held, (tx) => appendIn(tx, task, done, keepingOf(parts, held), parts));

async function appendIn(
  tx: Tx,
  task: Task,
  done: StagedProgress,
  keeping: Keeping,
  parts: EndingParts,
  approval?: Approval,
): Promise<WrittenTask> {
  const { clock, ids, publishTask, prices = {} } = parts;
  const now = clock.now();
  const events = await keepDone(tx, task, done, keeping, parts);
  const cost = await computeCost(tx, task, usedIn(done), prices);
  const accepted = approval && allowedAction(approval);
  const set = {
    ...accepted?.set,
    ...markOf(done),
    ...defined({ readSeq: done.readSeq }),
    addCredits: cost.charge.credits,
  };
  const step = {
    now,
    when: { fence: task.fence },
    set,
    events: [...events, ...(accepted?.events ?? [])],
    ...defined({ rows: done.rows }),
  };
  const after = await publishTask(tx, requireOwned(await tx.tasks.advance(task.id, step)));
  if (approval) await insertAction(tx, after, after.lastSeq, approval, "accepted");
  return { ...after, overdrawn: await spend(tx, after, cost, now, ids) };
}

const approvalOf = ({ action, tool, variant, description, params, memo }: Confirm, ids: Ids): Approval => ({
  kind: action,
  tool,
  variant,
  actionId: ids.short(),
  description,
  params,
  memo,
});

const markOf = ({ untrusted }: StagedProgress): Pick<TaskChanges, "untrusted"> =>
  untrusted ? { untrusted } : {};

/** @param turns the number of turns that end successfully with this write. */
const usedIn = ({ credits = 0, usage = noUsage, settles = [] }: StagedProgress, turns = 0): RunUsage => ({
  credits,
  usage,
  turns,
  settles: settles.flatMap(({ id }) => (id === "" ? [] : [id])),
});

/** Progress of an agent whose files are in the storage. */
export type StagedProgress = Progress<StagedFile>;

/**
 * Ends the turn of a task whose budget is spent, or has too few credits for a run to begin (spec/api.md
 * 12.2).
 */
export async function endSpent(
  task: Task,
  parts: EndingParts,
  held?: RunGuard<Task | null>,
  settles: readonly Hold[] = [],
): Promise<Task | null> {
  const content = (await isOutOfCredits(parts.store, task, parts.clock.now()))
    ? "The credits are used up."
    : tooFewCredits;
  const spent = { kind: "fail", errorType: "quota_limit", content } as const;
  return endTurn(task, { events: [], settles }, spent, { outputSchema: null }, parts, held);
}

/** Stores the artifacts, sites and subtasks of events. Returns the events to write. */
async function keepDone(
  tx: Tx,
  task: Task,
  { events }: StagedProgress,
  keeping: Keeping,
  parts: EndingParts,
): Promise<readonly NewEvent[]> {
  await beginSubtasks(tx, task, events, parts);
  return keepEvents(tx, task, events, keeping);
}

/** @throws RunLost when this process has lost the run; the error rolls the change back. */
function requireOwned(written: TaskWritten | null): TaskWritten {
  if (!written) throw new RunLost();
  return written;
}

/** An outcome that ends a turn: every outcome except `abandon`. */
export type EndingOutcome = Exclude<Outcome<StagedFile>, { kind: "abandon" }>;

/** A turn that ends, with its agent's last progress. */
interface LastOfRun {
  readonly task: Task;
  readonly done: StagedProgress;
  readonly parts: EndingParts;
  readonly held: RunGuard<Task | null>;
}

/**
 * Writes a turn's outcome together with the last progress. Returns the task for its next turn; null without
 * one.
 */
export async function endTurn(
  task: Task,
  done: StagedProgress,
  outcome: EndingOutcome,
  turn: Pick<Turn, "outputSchema">,
  parts: EndingParts,
  held: RunGuard<Task | null> = fenceOnly,
): Promise<Task | null> {
  const next = await writeEnding(task, done, outcome, turn, parts, held);
  // An action that was allowed before, and a wait that is over, continue the same turn.
  if (next !== null && continues.has(outcome.kind)) return next;
  const ending = endingName(outcome);
  noteEnding(parts, task, ending);
  if (ending === "spent") parts.observe?.budgetRefused();
  return next;
}

/** Reports how a run ended, to the metrics and in its span. */
export function noteEnding(
  { observe = unobserved }: Pick<EndingParts, "observe">,
  { agentProfile }: Task,
  ending: RunEnding,
): void {
  observe.runEnded(agentProfile, ending);
  currentSpan()?.set(attributes({ ending }));
}

const continues: ReadonlySet<EndingOutcome["kind"]> = new Set(["confirm", "wait"]);

function endingName(outcome: EndingOutcome): RunEnding {
  if (outcome.kind === "fail") return outcome.errorType === "quota_limit" ? "spent" : "failed";
  return ({ finish: "finished", ask: "asked", confirm: "asked", wait: "waits" } as const)[outcome.kind];
}

async function writeEnding(
  task: Task,
  done: StagedProgress,
  outcome: EndingOutcome,
  turn: Pick<Turn, "outputSchema">,
  parts: EndingParts,
  held: RunGuard<Task | null>,
): Promise<Task | null> {
  const run = { task, done, parts, held };
  const files = outcome.kind === "finish" ? outcome.files : undefined;
  // A turn that fails is not charged as a turn.
  const used = usedIn(done, outcome.kind === "finish" || outcome.kind === "ask" ? 1 : 0);
  if (outcome.kind === "wait") return startWait(run, outcome);
  if (outcome.kind !== "confirm") return end(run, used, endingOf(outcome, turn, parts.ids), files);
  const approval = approvalOf(outcome, parts.ids);
  return !outcome.isChecked && task.allowed.includes(allowance(outcome.action, outcome) ?? "")
    ? passAllowed(run, approval)
    : end(run, used, confirm(approval));
}

function endingOf(
  outcome: Exclude<EndingOutcome, { kind: "confirm" | "wait" }>,
  { outputSchema }: Pick<Turn, "outputSchema">,
  ids: Ids,
): Ending {
  if (outcome.kind === "fail") return fail(outcome.errorType, outcome.content);
  if (outcome.kind === "ask") return ask(outcome.content, outcome.options, outcome.memo, ids.short());
  return finish(
    outcome.content,
    outputSchema === null ? undefined : structuredResult(outputSchema, outcome.output),
  );
}

/**
 * Leaves `running`, unless a message has arrived that the turn has not read. In that case the answer is kept,
 * and the next turn begins without a `stopped` in between.
 */
async function end(
  { task, done, parts, held }: LastOfRun,
  used: RunUsage,
  ending: Ending,
  files: readonly StagedFile[] = [],
): Promise<Task | null> {
  const { clock, ids, publishTask, prices = {} } = parts;
  const { id, fence } = task;
  const keeping = keepingOf(parts, held);
  const { wait, memo } = ending;
  const count = done.events.length + ending.events.length;
  // The events get timestamps between the last event's and now, so that none is later than the next request.
  const ahead = task.lastTimestamp + count - clock.now();
  if (ahead > 0) await clock.sleep(Math.min(settleMs, ahead));
  return changeRun(parts.store, held, async (tx) => {
    const now = clock.now() - count;
    const before = await keepDone(tx, task, done, keeping, parts);
    const attachments = await keepFiles(tx, task, files, keeping.keepArtifact);
    const cost = await computeCost(tx, task, used, prices);
    const addCredits = cost.charge.credits;
    const rows = defined({ rows: done.rows });
    const after = (last: readonly NewEvent[]) => [
      ...before,
      ...last.map((event) => withAttachments(event, attachments)),
    ];
    const ended = await tx.tasks.advance(id, {
      now,
      when: { fence, consumed: true },
      set: { ...ending.set, ...markOf(done), addCredits },
      events: after(ending.events),
      ...rows,
    });
    const endedTask = ended && (await publishTask(tx, ended));
    // The event that requests input is directly before the status event.
    if (endedTask && wait) await insertAction(tx, endedTask, endedTask.lastSeq - 1, wait, "pending");
    const set = { beginTurn: true, memo, ...markOf(done), addCredits } as const;
    const begin = () =>
      tx.tasks.advance(id, { now, when: { fence }, set, events: after(ending.messages), ...rows });
    const next = endedTask ?? (await publishTask(tx, requireOwned(await begin())));
    await spend(tx, next, cost, clock.now(), ids);
    return endedTask ? null : next;
  });
}

/**
 * Accepts an action that the user has allowed before, without asking: the same turn continues, with one more
 * decision.
 */
const passAllowed = ({ task, done, parts, held }: LastOfRun, approval: Approval): Promise<Task | null> =>
  changeRun(parts.store, held, (tx) => appendIn(tx, task, done, keepingOf(parts, held), parts, approval));

/**
 * Waits for subtasks: the run ends, and the task keeps running without one. When the wait is over already,
 * the same turn continues at once.
 */
async function startWait(run: LastOfRun, { memo, ...request }: WaitOutcome): Promise<Task | null> {
  const { task, done, parts, held } = run;
  const { clock, ids, publishTask, prices = {}, store } = parts;
  if ((await store.waits.countAfter(task.id, task.consumedSeq)) >= waitsOfTurnMax)
    return end(
      run,
      usedIn(done),
      fail("wait_limit", `A turn may wait for subtasks at most ${waitsOfTurnMax} times.`),
    );
  return changeRun(store, held, async (tx) => {
    const now = clock.now();
    const events = await keepDone(tx, task, done, keepingOf(parts, held), parts);
    const cost = await computeCost(tx, task, usedIn(done), prices);
    const opened = await openWait(tx, task, request, now);
    if (!opened) throw new RunLost();
    const { step, wait } = opened;
    const set = { ...step.set, ...defined({ memo }), ...markOf(done), addCredits: cost.charge.credits };
    const when = { fence: task.fence };
    const all = { events: [...events, ...step.events], ...defined({ rows: done.rows }) };
    const written = requireOwned(await tx.tasks.advance(task.id, { now, when, set, ...all }));
    const after = await publishTask(tx, written);
    await tx.waits.insert({ ...wait, seq: after.lastSeq });
    await spend(tx, after, cost, now, ids);
    return wait.reason === null ? null : after;
  });
}

async function insertAction(
  tx: Tx,
  { id, spaceId }: Task,
  seq: number,
  { kind, variant, actionId }: Approval,
  state: "pending" | "accepted",
): Promise<void> {
  await tx.actions.insert({ taskId: id, spaceId, seq, kind, variant, actionId, state, input: null });
}
