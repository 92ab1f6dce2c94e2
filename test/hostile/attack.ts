import type { KeyKind } from "../../src/core/accounts/caller.ts";

/**
 * The credential of a request. Each attack has another member or guest, so none shares a rate limit; keys are
 * the owner's.
 */
export type Sender = "anonymous" | "member" | "guest" | KeyKind;

/** The address of an attack, and its sender. */
export interface Target {
  readonly port: number;
  /**
   * The attacker's address, another one of 127.0.0.0/8 for each attack: limits per address count it
   * separately.
   */
  readonly address: string;
  /** The headers with the sender's credential. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One attack: bytes to send, and the required answer of the server. */
export interface Attack {
  /** The content and its target. */
  readonly name: string;
  readonly by: Sender;
  /** Sends it; resolves with the answer as text, in the form of the senders in `send/`. */
  readonly send: (target: Target) => Promise<string>;
  /** The correct answers. */
  readonly expected: readonly string[];
}
