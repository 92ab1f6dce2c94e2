import type { Caller } from "../core/accounts/caller.ts";
import type { RequestCredentials } from "./credential.ts";
import type { RateState } from "./limit.ts";
import type { CallObservation } from "./observation.ts";
import type { Operation } from "./operations.ts";

/** The head of a request, in the same form for every wire. The body is not read yet. */
export interface Request {
  readonly requestId: string;
  /** The client's network address. */
  readonly address: string;
  readonly credentials: RequestCredentials;
  /** The `Idempotency-Key` header; null when absent. */
  readonly idempotencyKey: string | null;
  /** The `Prefer` header has `handling=strict` (RFC 7240 4.4): refuse members without effect. */
  readonly isStrict: boolean;
  /** The body, whose memory is counted; absent for a request without one. */
  readonly body?: CountedBody | undefined;
  /** Absent: the call is not observed. */
  readonly observed?: CallObservation;
}

/**
 * A body whose bytes count from the first read until the call ends, because the parsed message is as large as
 * the bytes.
 */
export interface CountedBody {
  /**
   * Counts the bytes under an account from now on.
   *
   * @param spend counts decoded bytes of the account's minute (`Limits.bodyBytes`).
   */
  assignTo(accountId: string, spend?: (bytes: number) => Promise<void>): void;
  /** Stops counting the bytes. For a long call that no longer holds its input. */
  release(): void;
}

/** An admitted call; pass it to `perform`. */
export interface Admission {
  readonly operation: Operation;
  readonly request: Request;
  readonly caller: Caller;
  readonly rate: RateState | null;
  /**
   * Checks credential and access again, without the limits, and returns the current caller.
   *
   * @throws Failure `unauthenticated` or `permission_denied`, as for a new call.
   */
  checkAgain(): Promise<Caller>;
}
