import type { Caller } from "./caller.ts";

/** A call that may stay open for a while: who it is from is asked again and again (contract/decisions.md 17). */
export interface OpenCall {
  /** As it was let in. */
  readonly caller: Caller;
  /** The same for calls that may do the same, by the same credential: they can share what they look up. */
  readonly who: string;
  /**
   * Looks the caller up anew; it counts against no limit.
   *
   * @throws Failure that a new call would get.
   */
  again(): Promise<Caller>;
  /** Aborted when nobody waits for an answer any more. */
  readonly gone: AbortSignal;
}
