import type { Clock } from "../core/clock.ts";
import type { PublishTask, Tx } from "../core/store.ts";
import type { DirectClaims, NewClaim } from "../core/tasks/direct-claims.ts";
import { lastEvents, type TaskEvent } from "../core/tasks/event.ts";
import { claimedTask } from "../core/tasks/lifecycle.ts";
import type { Task } from "../core/tasks/task.ts";
import type { QueueFilter } from "../core/tasks/task-rows.ts";
import { runInSpan } from "../core/trace.ts";
import { claimTasks } from "./claims.ts";

/** Claims in changes of callers, and the slots that they hold until the run begins. */
export interface DirectRuns extends DirectClaims {
  /** The number of claims whose run has not begun. */
  size(): number;
  has(taskId: string): boolean;
  /** Resolves when the current claims have begun or are rolled back. */
  settled(): Promise<void>;
}

export interface DirectRunsParts {
  readonly clock: Pick<Clock, "now">;
  readonly publishTask: PublishTask;
  /** Whether this process has a slot and an agent for the task now. */
  readonly hasRoom: (task: Task) => boolean;
  readonly filter: () => QueueFilter & { nodeId: string };
  /** Runs a task whose claim has committed. @param events those of its turn, where they are known. */
  readonly begin: (task: Task, events?: readonly TaskEvent[]) => void;
  /** A claim was rolled back: its slot is free. */
  readonly onFree: () => void;
}

/** The slot is taken first and the queue read afterwards, so that two changes cannot take the same slot. */
export function directRuns({
  clock,
  publishTask,
  hasRoom,
  filter,
  begin,
  onFree,
}: DirectRunsParts): DirectRuns {
  const claims = new Map<string, PromiseWithResolvers<void>>();

  function free(taskId: string): void {
    claims.get(taskId)?.resolve();
    claims.delete(taskId);
  }

  /**
   * Takes a slot until the run begins or the change is rolled back. Returns the id of the claiming node; null
   * when the task must wait.
   */
  async function takeSlot(tx: Tx, task: Task): Promise<string | null> {
    const accepted = filter();
    const { nodeId } = accepted;
    if (
      claims.has(task.id) ||
      (task.requiredNodeId !== null && task.requiredNodeId !== nodeId) ||
      !hasRoom(task)
    )
      return null;
    claims.set(task.id, Promise.withResolvers());
    tx.afterRollback(() => {
      if (!claims.has(task.id)) return;
      free(task.id);
      onFree();
    });
    if (await tx.tasks.canSkipQueue(task, accepted)) return nodeId;
    free(task.id);
    return null;
  }

  /** The slot is taken until `begin` has counted the run. */
  function beginAfterCommit(tx: Tx, task: Task, events?: readonly TaskEvent[]): void {
    tx.afterCommit(() => {
      // The run is not part of the call that began its turn.
      runInSpan(undefined, () => begin(task, events));
      free(task.id);
    });
  }

  return {
    size: () => claims.size,
    has: (taskId) => claims.has(taskId),
    settled: async () => void (await Promise.all([...claims.values()].map(({ promise }) => promise))),

    async claim(tx, task) {
      const nodeId = await takeSlot(tx, task);
      if (nodeId === null) return false;
      const [claimed] = await claimTasks(tx, [task], { nodeId, now: clock.now(), publishTask });
      if (claimed) beginAfterCommit(tx, claimed);
      // It has ended instead, after too many claims.
      else free(task.id);
      return true;
    },

    async reserve(tx, task): Promise<NewClaim | null> {
      const nodeId = await takeSlot(tx, task);
      if (nodeId === null) return null;
      return {
        claimed: (inserted, events) => claimedTask(inserted, nodeId, clock.now(), events),
        start: (within, inserted, events) => beginAfterCommit(within, inserted, lastEvents(inserted, events)),
      };
    },
  };
}
