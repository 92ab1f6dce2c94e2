import { setImmediate as turn } from "node:timers/promises";

/** Reads by key: those that are asked for at the same time are made once. */
export type SharedReads<T> = (key: string, read: () => Promise<T>) => Promise<T>;

/**
 * Lets everybody whom the same news has woken share one read. It begins a turn of the
 * event loop after the first has asked, and later ones get another: nobody is told
 * what is older than the question.
 */
export function sharedReads<T>(): SharedReads<T> {
  const asked = new Map<string, Promise<T>>();
  async function begin(key: string, read: () => Promise<T>): Promise<T> {
    await turn();
    asked.delete(key);
    return read();
  }
  return (key, read) => {
    const shared = asked.get(key) ?? begin(key, read);
    asked.set(key, shared);
    return shared;
  };
}
