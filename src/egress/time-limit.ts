import type { Clock } from "../core/clock.ts";

/** A signal that is aborted after `ms`, or with the given one; `stop` ends the waiting, and then it is aborted with the given one alone. */
export function limitTime(clock: Clock, ms: number, given: AbortSignal): { readonly signal: AbortSignal; stop(): void } {
  const over = new AbortController();
  const stopped = new AbortController();
  clock.sleep(ms, stopped.signal).then(
    () => over.abort(),
    () => undefined,
  );
  return { signal: AbortSignal.any([given, over.signal]), stop: () => stopped.abort(inTime) };
}

/** Always the same: an error made for each request would be most of what limiting it costs. */
const inTime = new Error("it was done in time");

/** What is promised, unless the signal is aborted first: look-ups and connections that are being made do not hear it. */
export async function unlessAborted<T>(signal: AbortSignal, promised: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const hear = () => reject(signal.reason);
  if (signal.aborted) hear();
  signal.addEventListener("abort", hear);
  try {
    return await Promise.race([promised, aborted]);
  } finally {
    signal.removeEventListener("abort", hear);
  }
}
