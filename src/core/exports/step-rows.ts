import type { TaskEvent } from "../tasks/event.ts";
import type { StepName } from "./export.ts";

/** Which sessions of a space an archive of steps goes through. */
export interface WantedSteps {
  readonly spaceId: string;
  /** An account; null: everybody. */
  readonly user: string | null;
  /** A task; null: every one. */
  readonly session: string | null;
  /** At or after this, Unix milliseconds; null: from the first. */
  readonly startTime: number | null;
  /** Before this. */
  readonly endTime: number;
  readonly names: readonly StepName[];
}

/** A task whose steps may lie in the window. */
export interface PackedSession {
  readonly id: string;
  /** Whose task it is. */
  readonly accountId: string;
  readonly agentProfile: string;
  readonly createdAt: number;
  readonly lastSeq: number;
}

/** What archives of steps are made of, read in pages that are bounded in rows and bytes. Deleted tasks are not among them (contract/decisions.md 14). */
export interface StepRows {
  /** Whether a space has such a task. */
  has(spaceId: string, taskId: string): Promise<boolean>;
  count(wanted: WantedSteps): Promise<number>;
  /** Account after account, the oldest of each first. */
  sessions(wanted: WantedSteps, after: PackedSession | null, limit: number): Promise<readonly PackedSession[]>;
  /** The next events in the window that may be steps of what is wanted: at least one, unless there is none up to `lastSeq`. */
  events(wanted: WantedSteps, taskId: string, afterSeq: number, lastSeq: number): Promise<readonly TaskEvent[]>;
  /** The next events before the window by which the use of a tool has asked for approval, as `events`. */
  asking(wanted: WantedSteps, taskId: string, afterSeq: number, lastSeq: number): Promise<readonly TaskEvent[]>;
}
