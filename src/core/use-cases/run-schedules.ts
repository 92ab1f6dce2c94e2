import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import {
  type CountedFailure,
  type PauseReason,
  type Schedule,
  type ScheduleChanges,
  unfinishedMax,
} from "../schedules/schedule.ts";
import { nextAfter } from "../schedules/timing.ts";
import type { Store, Tx } from "../store.ts";
import type { TaskWritten } from "../tasks/task.ts";
import { actFor, createTaskOf } from "./act-for-schedule.ts";
import type { Tasks } from "./manage-tasks.ts";

/** A due time that is handled later than this is missed. */
const graceMs = 60_000;

/** A schedule that its failures have paused, and its creator. */
export interface PausedSchedule extends Pick<Schedule, "id" | "name"> {
  /** The address of its creator. */
  readonly email: string;
  /** The text of the last failure. */
  readonly error: string;
}

/** Notifies the creator of a schedule that it is paused. It does not wait, and never throws. */
export type NotifyPaused = (paused: PausedSchedule) => void;

export interface RecordingParts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly notify: NotifyPaused;
}

export interface RunParts extends RecordingParts {
  readonly store: Store;
  readonly tasks: Pick<Tasks, "create">;
}

/**
 * Handles what is due of a schedule. One change replaces the due time that was read and creates the task, so
 * of several processes one creates it, and a process that dies leaves both or none. A refusal is recorded in
 * the same way.
 *
 * @throws Failure when the server is overloaded: the time stays due.
 */
export async function handleDue(parts: RunParts, id: string): Promise<void> {
  const { store, clock } = parts;
  const seen = await store.schedules.byId(id);
  const now = clock.now();
  const step = seen && stepOf(seen, now);
  if (!seen || !step) return;
  try {
    await store.change((tx) => run(tx, parts, seen, step, now));
  } catch (thrown) {
    if (!(thrown instanceof Failure) || isOverload(thrown)) throw thrown;
    await store.change(async (tx) => {
      if (await tx.schedules.take(seen, step.changes)) await recordFailure(tx, parts, id, thrown.message);
    });
  }
}

const isOverload = ({ reason, retryAfter }: Failure): boolean =>
  reason === "unavailable" || retryAfter !== undefined;

/** What is done at a due time. */
interface Step {
  /** The due time to create a task for; null when it was missed. */
  readonly due: number | null;
  readonly changes: ScheduleChanges;
}

/** Null when nothing is due. A new due time goes before one that waits. */
function stepOf(schedule: Schedule, now: number): Step | null {
  const { nextAt, queuedAt, missed } = schedule;
  if (nextAt === null || nextAt > now) {
    if (queuedAt === null) return null;
    return { due: queuedAt, changes: { queuedAt: null, ...(nextAt === null ? { status: "finished" } : {}) } };
  }
  const next = nextAfter(schedule, now);
  const due = now - nextAt <= graceMs || missed === "run_once" ? nextAt : recentDue(schedule, now);
  const isLast = next === null && queuedAt === null;
  return {
    due,
    changes: {
      nextAt: next,
      lastDueAt: due ?? nextAt,
      updatedAt: now,
      ...(isLast ? { status: "finished" } : {}),
    },
  };
}

/** The last due time that is not missed yet, after missed ones. */
function recentDue(schedule: Schedule, now: number): number | null {
  const recent = nextAfter(schedule, now - graceMs - 1);
  return recent !== null && recent <= now ? recent : null;
}

async function run(
  tx: Tx,
  parts: RunParts,
  seen: Schedule,
  { due, changes }: Step,
  now: number,
): Promise<void> {
  // The membership is locked before the schedule, as in the team's management.
  const acting = await actFor(tx, seen);
  if ("ended" in acting) return pauseEnded(tx, parts, seen, acting.ended, now);
  if (!(await tx.schedules.take(seen, changes)) || due === null) return;
  const unfinished = await tx.schedules.countUnfinished(seen.id);
  if (unfinished > 0 && seen.overlap === "queue") return void (await queue(tx, seen, due));
  if (unfinished >= (seen.overlap === "allow" ? unfinishedMax : 1)) return;
  // The settings may have changed since they were read; the lock keeps them.
  const schedule = await tx.schedules.byId(seen.id);
  if (!schedule) return;
  await createTaskOf(tx, parts.tasks, schedule, acting.caller, now);
  await writeAudit(tx, parts, seen, "task.v2.TaskService/CreateTask");
}

/** Keeps one waiting due time. */
async function queue(tx: Tx, { id, queuedAt }: Schedule, due: number): Promise<void> {
  await tx.schedules.update(id, { queuedAt: queuedAt ?? due, status: "active" });
}

async function pauseEnded(
  tx: Tx,
  parts: RecordingParts,
  seen: Schedule,
  reason: PauseReason,
  now: number,
): Promise<void> {
  const changes = {
    status: "paused",
    pauseReason: reason,
    nextAt: null,
    queuedAt: null,
    updatedAt: now,
  } as const;
  if (!(await tx.schedules.take(seen, changes))) return;
  tx.audit.note({ subject: seen.id, after: { reason } });
  await writeAudit(tx, parts, seen, "schedule.v1.ScheduleService/PauseSchedule");
}

async function recordFailure(tx: Tx, parts: RecordingParts, id: string, error: string): Promise<void> {
  const counted = await tx.schedules.addFailure(id, error, parts.clock.now());
  if (counted?.hasPaused) await reportPause(tx, parts, counted, error);
}

async function reportPause(
  tx: Tx,
  parts: RecordingParts,
  { schedule }: CountedFailure,
  error: string,
): Promise<void> {
  const { id, name, accountId, spaceId } = schedule;
  await tx.audit.insert(
    auditRow(parts, schedule, "schedule.v1.ScheduleService/PauseSchedule", { after: { reason: "failures" } }),
  );
  const profile = await tx.accounts.profile(accountId, spaceId);
  if (profile) tx.afterCommit(() => parts.notify({ id, name, email: profile.email, error }));
}

/** Writes the audit row of a change that a schedule makes by itself, from the notes of the change. */
async function writeAudit(
  tx: Tx,
  parts: RecordingParts,
  schedule: Schedule,
  operation: string,
): Promise<void> {
  const { subject = schedule.id, before = null, after = null } = tx.audit.notes();
  await tx.audit.insert({ ...auditRow(parts, schedule, operation, { after }), subject, before });
}

const auditRow = (
  { clock, ids }: RecordingParts,
  { id, accountId, spaceId }: Schedule,
  operation: string,
  { after }: { after: Readonly<Record<string, unknown>> | null },
) => ({
  id: ids.short(),
  at: clock.now(),
  spaceId,
  accountId,
  credential: `schedule:${id}`,
  operation,
  requestId: ids.request(),
  address: "",
  subject: id,
  before: null,
  after,
});

/**
 * Counts how the tasks of schedules end, in the change that ends them: a failed one is a failure, a finished
 * one ends a row of failures.
 */
export const countTaskEnds =
  (parts: RecordingParts) =>
  async (tx: Tx, written: TaskWritten): Promise<void> => {
    const { scheduleId } = written.task;
    if (scheduleId === null) return;
    const end = endOf(written);
    if (end === "failed") await recordFailure(tx, parts, scheduleId, "a task of the schedule failed");
    if (end === "finished") await tx.schedules.clearFailures(scheduleId);
  };

/** How a change has ended the task; null when it has not, or when a user has stopped it. */
function endOf({ events }: TaskWritten): "failed" | "finished" | null {
  if (events.some(({ type }) => type === "user_stop")) return null;
  const statuses = events.flatMap((event) =>
    event.type === "status_update" ? [event.payload.agentStatus] : [],
  );
  if (statuses.includes("error")) return "failed";
  return statuses.includes("stopped") ? "finished" : null;
}
