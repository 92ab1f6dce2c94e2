import { coalesce } from "../async/coalesce.ts";
import { limitConcurrency } from "../async/limit.ts";
import { poll } from "../async/poll.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { PublishTask, Store } from "../core/store.ts";
import { settleParent } from "../core/tasks/parents.ts";
import { subtasksChanged } from "../core/tasks/subtask-wait.ts";

/** A change of a subtask without a notification is found within this time. */
const lookMs = 1_000;
/** Tasks that are read at a time. */
const batchMax = 100;
const settledMax = 8;

interface ParentsWork {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly publishTask: PublishTask;
}

/**
 * Continues tasks whose wait for subtasks is over, and stops the subtasks of stopped tasks, in this process;
 * the returned function ends it. Several processes may do so at the same time.
 */
export function startParents({ store, clock, log, publishTask }: ParentsWork): () => Promise<void> {
  const stopping = new AbortController();
  const limited = limitConcurrency(settledMax);

  /** Returns false when the look stays due. */
  async function settle(taskId: string): Promise<boolean> {
    if (stopping.signal.aborted) return false;
    try {
      await settleParent({ store, clock, publishTask }, taskId);
      return true;
    } catch (cause) {
      log("error", "the subtasks of a task were not looked at", { taskId, cause });
      return false;
    }
  }

  const look = coalesce(async function lookAtSubtasks() {
    for (let isFull = true; isFull && !stopping.signal.aborted; ) {
      const due = await store.parents.due(clock.now(), batchMax);
      const settled = await Promise.all(due.map((id) => limited(() => settle(id))));
      isFull = due.length >= batchMax && !settled.includes(false);
    }
  });
  const lookNow = () =>
    void look().catch((cause: unknown) => log("error", "looking at subtasks failed", { cause }));
  const unsubscribes = [
    store.feed.onJob((kind) => kind === subtasksChanged && lookNow()),
    store.feed.onLost(lookNow),
  ];
  const looks = poll(clock, lookMs, stopping.signal, log, async function lookAtSubtasks() {
    await look();
  });
  return async () => {
    stopping.abort();
    for (const unsubscribe of unsubscribes) unsubscribe();
    await looks;
    await look().catch(() => undefined);
  };
}
