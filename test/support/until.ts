import type { Store } from "../../src/core/store.ts";
import type { Task, TaskStatus } from "../../src/core/tasks/task.ts";
import { hangMs } from "./patience.ts";

/**
 * Waits until the task matches: reads it once, and again at each notification,
 * so that nothing sleeps and nothing is missed.
 */
export async function until(store: Store, taskId: string, wanted: (task: Task) => boolean): Promise<Task> {
  const found = Promise.withResolvers<Task>();
  let latest: Task | null = null;
  async function look(): Promise<void> {
    latest = await store.tasks.byId(taskId);
    if (latest && wanted(latest)) found.resolve(latest);
  }
  const forgets = [
    store.feed.onTask((news) => {
      if (news.taskId === taskId) look().catch(found.reject);
    }),
    store.feed.onLost(() => void look().catch(found.reject)),
  ];
  const tooLate = setTimeout(
    () => found.reject(new Error(`task ${taskId} never was as wanted: ${JSON.stringify(latest)}`)),
    hangMs,
  );
  look().catch(found.reject);
  try {
    return await found.promise;
  } finally {
    clearTimeout(tooLate);
    for (const forget of forgets) forget();
  }
}

/** The task once it has this status. */
export const untilStatus = (store: Store, taskId: string, status: TaskStatus): Promise<Task> =>
  until(store, taskId, (task) => task.status === status);

/** The task once it has this many events. */
export const untilSeq = (store: Store, taskId: string, seq: number): Promise<Task> =>
  until(store, taskId, (task) => task.lastSeq >= seq);

/** The task once a process runs it. */
export const untilClaimed = (store: Store, taskId: string): Promise<Task> =>
  until(store, taskId, (task) => task.nodeId !== null);
