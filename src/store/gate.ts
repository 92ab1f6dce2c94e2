/** Lets one piece of work in at a time, in the order of asking. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** A gate of one. */
export function createGate(): Gate {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** No gate at all, for a database that sorts it out. */
export const openGate: Gate = (work) => work();
