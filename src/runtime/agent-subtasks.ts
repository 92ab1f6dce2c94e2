import type { JsonObject } from "../core/json.ts";
import type { WaitMode, WaitReason } from "../core/tasks/subtask-wait.ts";
import type { SubtaskResult } from "../core/tasks/subtasks.ts";
import type { AttachedFile } from "./attached-file.ts";

/** What a subtask gets. It has at most the rights of its parent, except where the user grants it more. */
export interface SubtaskRequest {
  readonly message: string;
  /** Absent or blank: derived from the message. */
  readonly title?: string;
  /** The name of a profile; absent: that of the parent. */
  readonly profile?: string;
  /** `checkSchema` has accepted it. */
  readonly outputSchema?: JsonObject;
  /** The built-in tools that it may use, of those of the parent; absent: as the parent. */
  readonly tools?: readonly string[];
  /** The uids of connectors of the parent; absent: none. */
  readonly connectors?: readonly string[];
  /** Paths of the parent's workspace: at most 100. The subtask has these files in `inputs/`. */
  readonly files?: readonly string[];
}

/** A task that an agent has begun with `Turn.subtask`. The transaction that writes its event inserts it. */
export interface Subtask extends SubtaskRequest {
  readonly id: string;
}

export interface WaitRequest {
  /**
   * Their ids, at most 100. Absent: those that have not ended, and those of this turn that have ended since
   * the last wait.
   */
  readonly subtasks?: readonly string[];
  readonly mode: WaitMode;
  /** The longest time, at most 7 days; absent: without a limit. */
  readonly timeoutMs?: number;
}

export interface TurnWait {
  readonly mode: WaitMode;
  readonly reason: WaitReason;
  /** Reads the results of its subtasks, in the order of the request. They are the same each time. */
  results(): Promise<readonly WaitedSubtask[]>;
}

export type WaitResult = Omit<TurnWait, "results"> & { readonly subtasks: readonly WaitedSubtask[] };

/**
 * A subtask as it was when the wait was over, with the files of its last message. A deleted one is stopped
 * and has no title.
 */
export interface WaitedSubtask extends Omit<SubtaskResult, "attachments"> {
  readonly files: readonly AttachedFile[];
}
