import type { Tx } from "../store.ts";
import type { NewEvent } from "./event.ts";
import type { Task } from "./task.ts";

export interface NewClaim {
  /** The row with the claim, to be inserted with these events: its first turn has begun. */
  claimed(task: Task, events: readonly NewEvent[]): Task;
  /** Runs the inserted task after the commit. @param events those that it was inserted with. */
  start(tx: Tx, task: Task, events: readonly NewEvent[]): void;
}

/**
 * Claims for the runs of this process, in the change that begins a turn, so that the turn need not wait for a
 * look at the queue. A claim holds only if its change commits; its run begins after the commit.
 */
export interface DirectClaims {
  /**
   * Claims a running task without a runner. False when the task must wait in the queue: this process has no
   * room, drains or has no agent for the profile, another task waits, or the space limits the profile.
   */
  claim(tx: Tx, task: Task): Promise<boolean>;
  /** The same for a task that is not inserted yet; null when it must wait. */
  reserve(tx: Tx, task: Task): Promise<NewClaim | null>;
}

/** Every task waits in the queue. */
export const noDirectClaims: DirectClaims = { claim: async () => false, reserve: async () => null };
