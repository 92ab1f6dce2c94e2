import { Failure } from "./failure.ts";
import type { Tx } from "./store.ts";

/** The half of an operation that runs in its transaction. */
export type Change<T> = (tx: Tx) => Promise<T>;

/**
 * Waits for work that stands before a change. A refusal is thrown by the function that
 * it answers: called in the change, after the idempotency record was looked at, it does
 * not come before what a repeat of a successful call is to be told.
 */
export async function deferred<T>(work: Promise<T>): Promise<() => T> {
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
