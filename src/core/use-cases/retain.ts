import { removeOldAudit } from "../audit/retention.ts";
import type { Clock } from "../clock.ts";
import type { Ids } from "../ids.ts";
import { type AgedTask, type EventProgress, eventProgress, hasEnded, type Retention, saveEventProgress } from "../retention/retention.ts";
import type { Store, Tx } from "../store.ts";
import { type ArchiveParts, archiveTasks, removeVerbose } from "./archive-events.ts";
import { deleteTask } from "./delete-task.ts";

/** The dependencies of retention. */
export interface RetainParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly retention: Retention;
  /** The events of a team's deleted tasks are kept for its exports (spec/decisions.md 14). */
  readonly keepsEvents: boolean;
  /** The files of archived events. */
  readonly archive: Omit<ArchiveParts, "store" | "clock">;
}

const dayMs = 24 * 3_600_000;
const passName = "retention-pass";
/** Rows that one read walks over. */
const walkMax = 500;
/** Rows of one change, and its longest time: the next change has half as many rows after a slower one. */
const rowsMax = 1_000;
const rowsMin = 10;
const changeMs = 200;

/** Removes what is older than the settings allow, once a day for all processes. Returns when the pass is over, or when `signal` stops it. */
export type Retain = (signal: AbortSignal) => Promise<void>;

/** @returns undefined without a setting: everything is kept. */
export function retainer(parts: RetainParts): Retain | undefined {
  const { store, clock, retention } = parts;
  if (Object.values(retention).every((days) => days === 0)) return undefined;
  const inBatches = batchesOf(store, clock);
  return async (signal) => {
    if (!(await store.change((tx) => beginPass(tx, clock.now())))) return;
    await retainTasks(parts, inBatches, signal);
    await retainUsage(parts, inBatches, signal);
    await retainAudit(parts, inBatches, signal);
    await archiveOld(parts, signal);
  };
}

/** Whether a pass is due. Two processes may begin one at the same moment, which is harmless. */
async function beginPass(tx: Tx, now: number): Promise<boolean> {
  const last = Number((await tx.settings.get(passName)) ?? 0);
  if (last > now - dayMs && last <= now) return false;
  await tx.settings.put(passName, String(now));
  return true;
}

type InBatches = (signal: AbortSignal, work: (tx: Tx, max: number) => Promise<number>) => Promise<void>;

/** Runs one change per batch until a batch has fewer rows than it may have, and keeps each change short. */
function batchesOf(store: Store, clock: Pick<Clock, "now">): InBatches {
  let max = rowsMax / 4;
  return async (signal, work) => {
    for (let isLast = false; !isLast && !signal.aborted; ) {
      const startedAt = clock.now();
      const batch = max;
      isLast = (await store.change((tx) => work(tx, batch))) < batch;
      const took = clock.now() - startedAt;
      max = took > changeMs ? Math.max(rowsMin, Math.floor(max / 2)) : Math.min(rowsMax, took < changeMs / 4 ? max * 2 : max);
    }
  };
}

async function retainTasks(parts: RetainParts, inBatches: InBatches, signal: AbortSignal): Promise<void> {
  const { store, clock, retention } = parts;
  const before = (days: number) => (days === 0 ? 0 : clock.now() - days * dayMs);
  const goals = { task: before(retention.taskDays), all: before(retention.eventDays), verbose: before(retention.verboseEventDays) };
  if (Math.max(...Object.values(goals)) === 0) return;
  const from = await eventProgress(store);
  // The next pass begins again at the oldest task whose subtasks still run.
  let oldestSkipped = Infinity;
  for await (const task of walk((after) => store.retention.walkTasks(after, walkMax), signal)) {
    const due = dueOf(task, goals, from);
    if (due === null || task.isHeld || !hasEnded(task)) continue;
    if (task.hasLivingSubtasks) oldestSkipped = Math.min(oldestSkipped, task.updatedAt);
    else if (due === "task") await store.change((tx) => deleteOld(tx, parts, task));
    else await inBatches(signal, (tx, max) => deleteOldEvents(tx, task, due, max));
    if (due === "verbose" && !task.hasLivingSubtasks) await removeVerbose({ ...parts, ...parts.archive }, task, signal);
  }
  if (signal.aborted) return;
  await retainTombstones(parts, inBatches, signal);
  const all = Math.min(goals.all, oldestSkipped);
  await store.change((tx) => saveEventProgress(tx, { ...from, all, verbose: Math.min(Math.max(goals.all, goals.verbose), oldestSkipped) }));
}

/** Watches of lists and readers of the compliance export have this long to learn of a deletion, in days. */
const tombstoneDaysMin = 90;

async function retainTombstones({ clock, retention }: RetainParts, inBatches: InBatches, signal: AbortSignal): Promise<void> {
  if (retention.taskDays === 0) return;
  const before = clock.now() - Math.max(retention.taskDays, tombstoneDaysMin) * dayMs;
  await inBatches(signal, (tx, max) => tx.retention.deleteTombstones(before, max));
}
type DeletionGoals = Pick<EventProgress, "all" | "verbose"> & { readonly task: number };

/** What a task loses in this pass; null: nothing. */
function dueOf({ updatedAt }: AgedTask, goals: DeletionGoals, from: EventProgress) {
  if (updatedAt < goals.task) return "task";
  if (updatedAt < goals.all && updatedAt >= from.all) return "all";
  return updatedAt < goals.verbose && updatedAt >= from.verbose ? "verbose" : null;
}

/** Deletes up to `max` rows, and segments of the archive after the last row. Returns their number. */
async function deleteOldEvents(tx: Tx, task: AgedTask, which: "all" | "verbose", max: number): Promise<number> {
  if (!(await tx.retention.lockTask(task))) return 0;
  const rows = await tx.retention.deleteEvents(task.id, which, max);
  return which === "verbose" || rows === max ? rows : rows + (await tx.segments.deleteSome(task.id, max - rows));
}

async function deleteOld(tx: Tx, { clock, ids, keepsEvents }: RetainParts, seen: AgedTask): Promise<void> {
  const task = (await tx.retention.lockTask(seen)) ? await tx.tasks.byId(seen.id) : null;
  if (task === null) return;
  const { id, spaceId, accountId, status } = task;
  await deleteTask(tx, task, { now: clock.now(), personal: seen.isPersonal, keepsEvents });
  const entry = { id: ids.short(), at: clock.now(), spaceId, accountId, credential: "retention", operation: "retention/DeleteTask" };
  await tx.audit.insert({ ...entry, requestId: ids.request(), address: "", subject: id, before: { status }, after: null });
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
  if (!signal.aborted) await store.change((tx) => saveEventProgress(tx, { ...from, archived: Math.min(before, oldestSkipped) }));
}

async function retainUsage({ store, clock, retention }: RetainParts, inBatches: InBatches, signal: AbortSignal): Promise<void> {
  if (retention.usageDays === 0) return;
  const before = clock.now() - retention.usageDays * dayMs;
  for await (const { id, isHeld } of walk((after) => store.retention.walkSpaces(after, walkMax), signal))
    if (!isHeld) await inBatches(signal, (tx, max) => tx.retention.deleteUsage(id, before, max));
}

async function retainAudit({ store, clock, ids, retention }: RetainParts, inBatches: InBatches, signal: AbortSignal): Promise<void> {
  if (retention.auditDays === 0) return;
  const before = clock.now() - retention.auditDays * dayMs;
  for await (const { id, isHeld } of walk((after) => store.retention.walkSpaces(after, walkMax), signal))
    if (!isHeld) await inBatches(signal, (tx, max) => removeOldAudit(tx, { now: clock.now(), ids }, id, before, max));
}

/** All rows, page by page. */
async function* walk<T extends { readonly id: string }>(
  page: (after: string) => Promise<readonly T[]>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for (let rows = await page(""); rows.length > 0 && !signal.aborted; rows = await page(rows.at(-1)?.id ?? "")) yield* rows;
}
