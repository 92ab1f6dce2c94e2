import { Failure } from "./failure.ts";
import type { Tx } from "./store.ts";

/** The part of an operation that runs in its transaction. */
export type Change<T> = (tx: Tx) => Promise<T>;

/**
 * Waits for work that precedes a change. The returned function throws a failure of the
 * work, not this one. The change calls it after it has read the idempotency record, so a
 * repeat of a successful call gets the recorded answer and not a new failure.
 */
export async function deferFailure<T>(work: Promise<T>): Promise<() => T> {
  try {
    const done = await work;
    return () => done;
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    return () => {
      throw thrown;
    };
  }
}
