import { removeOldAudit } from "../audit/retention.ts";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import { dayMs, type JobNeeds, type TimedJob } from "../processes/timed-job.ts";
import {
  type AgedTask,
  type EventProgress,
  eventProgress,
  hasEnded,
  type Retention,
  saveEventProgress,
} from "../retention/retention.ts";
import type { Store, Tx } from "../store.ts";
import { type ArchiveParts, archiveTasks, removeVerbose } from "./archive-events.ts";
import { deleteTask } from "./delete-task.ts";

export interface RetainParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly retention: Retention;
  /** The events of a team's deleted tasks are kept for its exports (spec/decisions.md 14). */
  readonly keepsEvents: boolean;
  readonly archive: Omit<ArchiveParts, "store" | "clock">;
}

/** Rows that one read walks over. */
const walkMax = 500;
/**
 * How much one change handles, and its longest time: the next change handles half as much after a slower one.
 */
interface Size {
  readonly first: number;
  readonly min: number;
  readonly max: number;
}
const rowsOf: Size = { first: 250, min: 10, max: 1_000 };
/** Of whole tasks, with all their rows. */
const tasksOf: Size = { first: 10, min: 1, max: 100 };
const changeMs = 200;

type RetainNeeds = JobNeeds &
  Pick<RetainParts, "ids" | "archive"> & { clock: Clock; config: { retention: Retention } };

/**
 * Removes what is older than the settings allow, once a day for all processes. Ends when the pass is over, or
 * when `signal` stops it.
 */
export const retain: TimedJob<RetainNeeds> = {
  name: "retain",
  every: dayMs,
  once: true,
  async run({ store, clock, ids, archive, config: { retention, deletedTaskDays } }, signal) {
    if (Object.values(retention).every((days) => days === 0)) return;
    const parts: RetainParts = { store, clock, ids, archive, retention, keepsEvents: deletedTaskDays > 0 };
    const changes: Changes = { inBatches: batchesOf(store, clock), overTasks: groupsOf(store, clock) };
    await retainTasks(parts, changes, signal);
    await retainUsage(parts, changes, signal);
    await retainAudit(parts, changes, signal);
    await archiveOld(parts, signal);
  },
};

/** Makes many changes, and keeps each short. */
interface Changes {
  /** Runs one change per batch until a batch has fewer rows than it may have. */
  inBatches(signal: AbortSignal, work: (tx: Tx, max: number) => Promise<number>): Promise<void>;
  /** Runs one change per group of tasks. */
  overTasks(
    signal: AbortSignal,
    tasks: readonly AgedTask[],
    work: (tx: Tx, some: readonly AgedTask[]) => Promise<void>,
  ): Promise<void>;
}

/**
 * A change that handles as much as fits into its time. One that fails, for instance because it took too long,
 * is tried again with less.
 */
type PacedChange = <T>(
  work: (tx: Tx, size: number) => Promise<T>,
) => Promise<{ readonly size: number; readonly result: T }>;

function pacedChange(store: Store, clock: Pick<Clock, "monotonic">, { first, min, max }: Size): PacedChange {
  let next = first;
  return async function change(work) {
    const [size, startedAt] = [next, clock.monotonic()];
    try {
      const result = await store.change((tx) => work(tx, size));
      const took = clock.monotonic() - startedAt;
      if (took > changeMs) next = Math.max(min, Math.floor(size / 2));
      else if (took < changeMs / 4) next = Math.min(max, size * 2);
      return { size, result };
    } catch (thrown) {
      if (size === min || !(thrown instanceof Failure)) throw thrown;
      next = Math.max(min, Math.floor(size / 4));
      return change(work);
    }
  };
}

function batchesOf(store: Store, clock: Pick<Clock, "monotonic">): Changes["inBatches"] {
  const change = pacedChange(store, clock, rowsOf);
  return async (signal, work) => {
    for (let isLast = false; !isLast && !signal.aborted; ) {
      const { size, result } = await change(work);
      isLast = result < size;
    }
  };
}

function groupsOf(store: Store, clock: Pick<Clock, "monotonic">): Changes["overTasks"] {
  const change = pacedChange(store, clock, tasksOf);
  return async (signal, tasks, work) => {
    for (let left = tasks; left.length > 0 && !signal.aborted; ) {
      const group = left;
      const { size } = await change((tx, max) => work(tx, group.slice(0, max)));
      left = group.slice(size);
    }
  };
}

async function retainTasks(parts: RetainParts, changes: Changes, signal: AbortSignal): Promise<void> {
  const { store, clock, retention } = parts;
  const before = (days: number) => (days === 0 ? 0 : clock.now() - days * dayMs);
  const goals = {
    task: before(retention.taskDays),
    all: before(retention.eventDays),
    verbose: before(retention.verboseEventDays),
  };
  if (Math.max(...Object.values(goals)) === 0) return;
  const from = await eventProgress(store);
  // The next pass begins again at the oldest task whose subtasks still run.
  let oldestSkipped = Infinity;
  const found: Record<Due, AgedTask[]> = { task: [], all: [], verbose: [] };
  const handle = (due: Due) => removeFrom(parts, changes, due, found[due].splice(0), signal);
  for await (const task of walk((after) => store.retention.walkTasks(after, walkMax), signal)) {
    const due = dueOf(task, goals, from);
    if (due === null || task.isHeld || !hasEnded(task)) continue;
    if (task.hasLivingSubtasks) oldestSkipped = Math.min(oldestSkipped, task.updatedAt);
    else if (found[due].push(task) === tasksOf.max) await handle(due);
  }
  for (const due of ["task", "all", "verbose"] as const) await handle(due);
  if (signal.aborted) return;
  await retainTombstones(parts, changes, signal);
  const all = Math.min(goals.all, oldestSkipped);
  await store.change((tx) =>
    saveEventProgress(tx, {
      ...from,
      all,
      verbose: Math.min(Math.max(goals.all, goals.verbose), oldestSkipped),
    }),
  );
}

/** Removes from some tasks, `tasksOf.max` at most, what is due. */
async function removeFrom(
  parts: RetainParts,
  changes: Changes,
  due: Due,
  tasks: readonly AgedTask[],
  signal: AbortSignal,
): Promise<void> {
  if (tasks.length === 0) return;
  if (due === "task") return changes.overTasks(signal, tasks, (tx, some) => deleteOld(tx, parts, some));
  await changes.inBatches(signal, (tx, max) => deleteOldEvents(tx, tasks, due, max));
  if (due === "verbose")
    for (const task of tasks) await removeVerbose({ ...parts, ...parts.archive }, task, signal);
}

/** Watches of lists and readers of the compliance export have this long to learn of a deletion, in days. */
const tombstoneDaysMin = 90;

async function retainTombstones(
  { clock, retention }: RetainParts,
  { inBatches }: Changes,
  signal: AbortSignal,
): Promise<void> {
  if (retention.taskDays === 0) return;
  const before = clock.now() - Math.max(retention.taskDays, tombstoneDaysMin) * dayMs;
  await inBatches(signal, (tx, max) => tx.retention.deleteTombstones(before, max));
}

/** What a task loses in a pass. */
type Due = "task" | "all" | "verbose";
type DeletionGoals = Pick<EventProgress, "all" | "verbose"> & { readonly task: number };

/** What a task loses in this pass; null: nothing. */
function dueOf({ updatedAt }: AgedTask, goals: DeletionGoals, from: EventProgress): Due | null {
  if (updatedAt < goals.task) return "task";
  if (updatedAt < goals.all && updatedAt >= from.all) return "all";
  return updatedAt < goals.verbose && updatedAt >= from.verbose ? "verbose" : null;
}

/** Deletes up to `max` rows, and segments of the archive after the last row. Returns their number. */
async function deleteOldEvents(
  tx: Tx,
  tasks: readonly AgedTask[],
  which: "all" | "verbose",
  max: number,
): Promise<number> {
  const ids = (await tx.retention.lockTasks(tasks)).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const rows = await tx.retention.deleteEvents(ids, which, max);
  return which === "verbose" || rows === max ? rows : rows + (await tx.segments.deleteSome(ids, max - rows));
}

async function deleteOld(
  tx: Tx,
  { clock, ids, keepsEvents }: RetainParts,
  seen: readonly AgedTask[],
): Promise<void> {
  for (const { id: taskId, isPersonal } of await tx.retention.lockTasks(seen)) {
    const task = await tx.tasks.byId(taskId);
    if (task === null) continue;
    const { id, spaceId, accountId, status } = task;
    await deleteTask(tx, task, { now: clock.now(), personal: isPersonal, keepsEvents });
    const entry = {
      id: ids.short(),
      at: clock.now(),
      spaceId,
      accountId,
      credential: "retention",
      operation: "retention/DeleteTask",
    };
    await tx.audit.insert({
      ...entry,
      requestId: ids.request(),
      address: "",
      subject: id,
      before: { status },
      after: null,
    });
  }
}

/** Moves old events to files. Tasks under legal hold stay as they are. */
async function archiveOld(parts: RetainParts, signal: AbortSignal): Promise<void> {
  const { store, clock, retention } = parts;
  if (retention.archiveEventDays === 0) return;
  const before = clock.now() - retention.archiveEventDays * dayMs;
  const from = await eventProgress(store);
  let oldestSkipped = Infinity;
  async function* due(): AsyncGenerator<AgedTask> {
    for await (const task of walk((after) => store.retention.walkTasks(after, walkMax), signal)) {
      if (task.updatedAt >= before || task.updatedAt < from.archived || !hasEnded(task)) continue;
      if (task.hasLivingSubtasks) oldestSkipped = Math.min(oldestSkipped, task.updatedAt);
      else if (!task.isHeld) yield task;
    }
  }
  await archiveTasks({ ...parts, ...parts.archive }, due(), signal);
  if (!signal.aborted)
    await store.change((tx) => saveEventProgress(tx, { ...from, archived: Math.min(before, oldestSkipped) }));
}

async function retainUsage(
  { store, clock, retention }: RetainParts,
  { inBatches }: Changes,
  signal: AbortSignal,
): Promise<void> {
  if (retention.usageDays === 0) return;
  const before = clock.now() - retention.usageDays * dayMs;
  for await (const { id, isHeld } of walk((after) => store.retention.walkSpaces(after, walkMax), signal))
    if (!isHeld) await inBatches(signal, (tx, max) => tx.retention.deleteUsage(id, before, max));
}

async function retainAudit(
  { store, clock, ids, retention }: RetainParts,
  { inBatches }: Changes,
  signal: AbortSignal,
): Promise<void> {
  if (retention.auditDays === 0) return;
  const before = clock.now() - retention.auditDays * dayMs;
  for await (const { id, isHeld } of walk((after) => store.retention.walkSpaces(after, walkMax), signal))
    if (!isHeld)
      await inBatches(signal, (tx, max) => removeOldAudit(tx, { now: clock.now(), ids }, id, before, max));
}

/** All rows, page by page. */
async function* walk<T extends { id: string }>(
  page: (after: string) => Promise<readonly T[]>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for (
    let rows = await page("");
    rows.length > 0 && !signal.aborted;
    rows = await page(rows.at(-1)?.id ?? "")
  )
    yield* rows;
}
