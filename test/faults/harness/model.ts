import type { WatchRecord } from "./watching.ts";

/** What is known of one task: what was acknowledged, and what its agent must therefore have written. */
export interface TaskRecord {
  /** Stands in every text of it, and in no other task's. */
  readonly name: string;
  readonly story: string;
  /** Undefined until its creation was acknowledged. */
  id: string | undefined;
  /** Messages that were acknowledged, in their order. */
  readonly messages: string[];
  /** What the agent writes, as `tokens.ts` has it: up to each stop that was acknowledged, where it may be cut short, and after the last. */
  readonly segments: string[][];
  /** Confirmations that were acknowledged. */
  confirmations: number;
  /** When a process that may have run it woke from standing still, in Unix ms; undefined for all but bait. */
  wokeAt?: number;
  /** By those who watched it. */
  readonly watches: WatchRecord[];
}

/** What the service has acknowledged, all in all. */
export interface Model {
  readonly tasks: TaskRecord[];
  /** First messages of creations that carried no key and were cut off: each may have made one task, or none. */
  readonly maybe: Set<string>;
}

export const newModel = (): Model => ({ tasks: [], maybe: new Set() });

/** A task that is about to be created. */
export const newRecord = (name: string, story: string): TaskRecord => ({
  ...{ name, story, id: undefined, messages: [], segments: [[]], confirmations: 0, watches: [] },
});
