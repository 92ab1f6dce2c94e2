import { setImmediate as breath } from "node:timers/promises";

/** Lets one piece of work in at a time, in the order of asking. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** Changes may follow each other for so long before requests and timers get a turn. */
const sliceMs = 10;

/**
 * A gate of one. SQLite's driver answers at once, so that changes one after the other
 * would never let the event loop go on: it takes a breath between them, but only when
 * a slice of time is over, else a busy reader would hold every change up by a turn.
 *
 * @param now milliseconds that only grow.
 */
export function createGate(now: () => number = () => performance.now()): Gate {
  let last: Promise<unknown> = Promise.resolve();
  let sliceEnd = now() + sliceMs;

  async function breathe(): Promise<void> {
    if (now() < sliceEnd) return;
    await breath();
    sliceEnd = now() + sliceMs;
  }

  return (work) => {
    const done = last.then(breathe).then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** No gate at all, for a database that sorts it out. */
export const openGate: Gate = (work) => work();
