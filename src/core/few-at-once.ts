/** Runs work when it is its turn, and answers what it comes to. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets so much work run at once; the rest waits, in the order in which it came. */
export function fewAtOnce(most: number): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;

  function end(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  return async (work) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await work();
    } finally {
      end();
    }
  };
}
