/**
 * Runs work when a place is free; waiting work has places in order. @throws the reason of the signal when it
 * is aborted before
 */
export type Places = <Result>(
  work: () => Promise<Result>,
  signal?: AbortSignal | undefined,
) => Promise<Result>;

/** @param max how much work runs at the same time. */
export function places(max: number): Places {
  let free = max;
  const waiting: (() => void)[] = [];

  const place = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const take = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(take), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      waiting.push(take);
    });

  return async (work, signal) => {
    signal?.throwIfAborted();
    if (free > 0) free -= 1;
    else await place(signal);
    try {
      return await work();
    } finally {
      // Later, because the connection of an answer is free after the answer: otherwise another one is opened.
      setTimeout(() => {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      });
    }
  };
}
