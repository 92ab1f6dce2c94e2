import type { Clock } from "./clock.ts";

/** When a stream counts as silent. */
export interface Silence {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly silenceMs: number;
}

/**
 * Items as they come, and one of `keepAlive` whenever none came for `silenceMs`. Nothing is made ahead of the reader.
 * The source has to end when the call ends that it is read for: a reader that leaves in between waits for that.
 */
export async function* withKeepAlives<T>(items: AsyncIterable<T>, keepAlive: () => T, silence: Silence): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      const arrival = arrivalOf(next);
      while (!(await arrival.within(silence))) yield keepAlive();
      const found = await next;
      if (found.done) return;
      yield found.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Tells whether a promise settles in time; it may be asked again and again, and nothing of that is kept. */
function arrivalOf(promise: Promise<unknown>) {
  let hasSettled = false;
  let wake = (): void => undefined;
  const settle = (): void => {
    hasSettled = true;
    wake();
  };
  promise.then(settle, settle);
  return {
    async within({ clock, silenceMs }: Silence): Promise<boolean> {
      const settled = new AbortController();
      wake = () => settled.abort();
      // It rejects when it is aborted.
      if (!hasSettled) await clock.sleep(silenceMs, settled.signal).catch(() => undefined);
      return hasSettled;
    },
  };
}
