import type { Scope } from "../accounts/caller.ts";
import type { TaskTemplate } from "./template.ts";
import type { Timing } from "./timing.ts";

/** The most schedules of an account in a space. */
export const schedulesMax = 100;
/** Refusals and failed tasks in a row after which a schedule pauses. */
export const failuresMax = 5;
/** The most unfinished tasks of a schedule. */
export const unfinishedMax = 5;

/** What happens with due times that no process could handle in time. */
export const missedPolicies = ["skip", "run_once"] as const;
export type MissedPolicy = (typeof missedPolicies)[number];

/** What happens at a due time while an earlier task of the schedule has not ended. */
export const overlapPolicies = ["skip", "queue", "allow"] as const;
export type OverlapPolicy = (typeof overlapPolicies)[number];

/** `finished`: it has no further due time. */
export const scheduleStatuses = ["active", "paused", "finished"] as const;
export type ScheduleStatus = (typeof scheduleStatuses)[number];

/** Why a schedule is paused. */
export const pauseReasons = [
  ...([
    "user",
    "failures",
    "member_deactivated",
    "member_removed",
    "profile_delegated",
    "grant_revoked",
    "app_deleted",
  ] as const),
];
export type PauseReason = (typeof pauseReasons)[number];

/** Creates tasks from a template at its due times. Times are Unix milliseconds. */
export interface Schedule extends Timing {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The app that created it, and to which its tasks belong; null without an app. */
  readonly clientId: string | null;
  /** The key that created it, which may be revoked since; its tasks have it too. */
  readonly apiKeyId: string | null;
  readonly name: string;
  readonly template: TaskTemplate;
  readonly missed: MissedPolicy;
  readonly overlap: OverlapPolicy;
  readonly status: ScheduleStatus;
  readonly pauseReason: PauseReason | null;
  /** The next due time; null unless it is active. */
  readonly nextAt: number | null;
  /** The latest due time that was handled. */
  readonly lastDueAt: number | null;
  /** A due time that waits for the end of an earlier task. */
  readonly queuedAt: number | null;
  /** When it last created a task. */
  readonly lastRunAt: number | null;
  readonly lastTaskId: string | null;
  /** Refusals and failed tasks since the last task that succeeded. */
  readonly failures: number;
  /** The text of the last failure; null after a success. */
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type ScheduleChanges = Partial<
  Omit<Schedule, "id" | "accountId" | "spaceId" | "clientId" | "apiKeyId" | "createdAt">
>;

export interface SchedulePosition {
  readonly at: number;
  readonly id: string;
}

/** Schedules whose pause ends the work of a person, an app, or an app for a person. */
export type PausedOwner =
  | { readonly accountId: string; readonly spaceId: string; readonly clientId?: string }
  | { readonly clientId: string; readonly spaceId: string };

/** A failure of a schedule, after it was counted. */
export interface CountedFailure {
  readonly schedule: Schedule;
  /** This failure has paused it. */
  readonly hasPaused: boolean;
}

export interface ScheduleRows {
  insert(schedule: Schedule): Promise<void>;
  /** The schedule that this caller sees. */
  find(scope: Scope, id: string): Promise<Schedule | null>;
  /** As `find`, and locks the row until the change ends. */
  lock(scope: Scope, id: string): Promise<Schedule | null>;
  /** A schedule of any owner. */
  byId(id: string): Promise<Schedule | null>;
  /** Newest first. */
  list(scope: Scope, limit: number, after?: SchedulePosition): Promise<readonly Schedule[]>;
  /** Of all apps. */
  count(scope: Pick<Scope, "accountId" | "spaceId">): Promise<number>;
  update(id: string, changes: ScheduleChanges): Promise<void>;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
  /**
   * Ids of active schedules with a due time up to `now`, or with a waiting one whose earlier tasks have
   * ended; earliest first.
   */
  due(now: number, max: number): Promise<readonly string[]>;
  /**
   * Handles a due time: changes the schedule if it is active and `nextAt` and `queuedAt` are those that were
   * read. Returns the schedule before it, and locks it; null when another change was faster: then nothing was
   * written.
   */
  take(seen: Pick<Schedule, "id" | "nextAt" | "queuedAt">, changes: ScheduleChanges): Promise<boolean>;
  /** The number of its tasks that run or wait, up to `unfinishedMax`. */
  countUnfinished(id: string): Promise<number>;
  /** Adds a failure; the fifth one in a row pauses the schedule. Null when there is no such schedule. */
  addFailure(id: string, error: string, now: number): Promise<CountedFailure | null>;
  /** A task of it succeeded. */
  clearFailures(id: string): Promise<void>;
  /** Returns how many. */
  pauseAll(owner: PausedOwner, reason: PauseReason, now: number): Promise<number>;
}
