import { mutex, type Run } from "./limit.ts";

/**
 * Runs `work` one at a time. Calls during a run share its result: for work whose result also serves later
 * calls.
 */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/**
 * Runs `work` one at a time. Calls before a run starts share it; calls during a run share the next one. Each
 * call resolves or rejects with a run that started after the call, so the run sees every change made before
 * the call.
 *
 * @param run decides when a run starts. Functions that share a mutex exclude each other.
 */
export function coalesce<T>(work: () => Promise<T>, run: Run = mutex()): () => Promise<T> {
  let next: Promise<T> | undefined;
  return () => {
    next ??= run(() => {
      next = undefined;
      return work();
    });
    return next;
  };
}
