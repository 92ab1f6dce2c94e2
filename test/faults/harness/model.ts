import type { WatchRecord } from "./watch-record.ts";

/** The known facts of one task: acknowledged changes, and the events that its agent must have written. */
export interface TaskRecord {
  /** Part of every text of this task, and of no other task. */
  readonly name: string;
  readonly story: string;
  /** Undefined until its creation was acknowledged. */
  id: string | undefined;
  /** Acknowledged messages, in their order. */
  readonly messages: string[];
  /**
   * The agent's output, in the form of `tokens.ts`: up to each acknowledged stop (it may end early), and
   * after the last.
   */
  readonly segments: string[][];
  /** Acknowledged confirmations. */
  confirmations: number;
  /**
   * When a process that may have run it woke from a suspension, in Unix ms; undefined except for extra tasks.
   */
  resumedAt?: number;
  /**
   * What each of its subtasks must have written; undefined for a task without subtasks, or whose subtasks
   * were stopped.
   */
  subtasks?: readonly string[];
  /** The records of its watchers. */
  readonly watches: WatchRecord[];
}

/** Everything that the service has acknowledged. */
export interface Model {
  readonly tasks: TaskRecord[];
  /** First messages of creations without a key that were cut off: each may have created one task, or none. */
  readonly maybe: Set<string>;
}

export const newModel = (): Model => ({ tasks: [], maybe: new Set() });

/** A task before its creation. */
export const newRecord = (name: string, story: string): TaskRecord => ({
  ...{ name, story, id: undefined, messages: [], segments: [[]], confirmations: 0, watches: [] },
});
