import type { Clock } from "../../core/clock.ts";

/**
 * A signal that is aborted after `ms`, or with `outer`. `stop` ends the time limit; then only `outer` aborts
 * it.
 */
export function limitTime(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
): { signal: AbortSignal; stop(): void } {
  const expired = new AbortController();
  const stopped = new AbortController();
  clock.sleep(ms, stopped.signal).then(
    () => expired.abort(),
    () => undefined,
  );
  return { signal: AbortSignal.any([outer, expired.signal]), stop: () => stopped.abort(inTime) };
}

/** A shared error: creating one for each request would be most of the cost of the time limit. */
const inTime = new Error("it was done in time");

/**
 * Resolves like `promised`, unless the signal is aborted first. Needed for look-ups and connection attempts,
 * which ignore signals.
 */
export async function unlessAborted<T>(signal: AbortSignal, promised: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([promised, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
