import { setImmediate as nextIteration } from "node:timers/promises";

/** Runs reads by key. Calls with the same key at the same time share one read. */
export type BatchedReads<T> = (key: string, read: () => Promise<T>) => Promise<T>;

/**
 * Shares one read among all callers that the same notification woke. The read starts one iteration of the
 * event loop after the first call. A call after that starts another read, so no caller gets a result older
 * than its call.
 */
export function batchReads<T>(): BatchedReads<T> {
  const waiting = new Map<string, Promise<T>>();
  async function start(key: string, read: () => Promise<T>): Promise<T> {
    await nextIteration();
    waiting.delete(key);
    return read();
  }
  return (key, read) => {
    const shared = waiting.get(key) ?? start(key, read);
    waiting.set(key, shared);
    return shared;
  };
}
