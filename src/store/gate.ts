import { setImmediate as breath } from "node:timers/promises";

/** Lets one piece of work in at a time, in the order of asking. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A gate of one. Everybody who enters lets the event loop take a breath first: SQLite's
 * driver answers at once, so that changes one after the other would never let a
 * request or a timer in between.
 */
export function createGate(): Gate {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(() => breath()).then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** No gate at all, for a database that sorts it out. */
export const openGate: Gate = (work) => work();
