import { setImmediate as nextIteration } from "node:timers/promises";

/** Runs work, now or later, and returns its result. */
export type Run = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Runs one function at a time, in the order of the calls, also after a failure. No function starts within the
 * call.
 */
export function mutex(): Run {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}

/** Resolves when the caller may continue. */
export type Pace = () => Promise<void>;

/**
 * Lets `atOnce` callers continue in each iteration of the event loop, so that other short work runs in
 * between.
 */
export function pacer(atOnce: number): Pace {
  let gate = Promise.resolve();
  let admitted = 0;
  return () => {
    if (admitted === atOnce) {
      gate = gate.then(() => nextIteration());
      admitted = 0;
    }
    admitted += 1;
    return gate;
  };
}

/** Runs at most `most` functions at once. The others wait, in the order of the calls. */
export function limitConcurrency(most: number): Run {
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

/**
 * Runs at most `most` functions of one key at once. The others of this key wait, in the order of the calls.
 */
export function limitPerKey(most: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const limits = new Map<string, { run: Run; calls: number }>();
  return async (key, work) => {
    const limit = limits.get(key) ?? { run: limitConcurrency(most), calls: 0 };
    limits.set(key, limit);
    limit.calls += 1;
    try {
      return await limit.run(work);
    } finally {
      limit.calls -= 1;
      if (limit.calls === 0) limits.delete(key);
    }
  };
}
