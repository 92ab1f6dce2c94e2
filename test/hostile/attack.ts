import type { KeyKind } from "../../src/core/caller.ts";

/** Whose credential a request shows. A member or a guest is somebody else for each attack, so that no rate limit is shared; the kinds of keys are the owner's. */
export type Sender = "anonymous" | "member" | "guest" | KeyKind;

/** Where an attack goes, and as whom. */
export interface Target {
  readonly port: number;
  /** The attacker's address, another one of 127.0.0.0/8 for each attack: what is counted per address is counted for it alone. */
  readonly address: string;
  /** The headers that show the sender's credential. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One attack: bytes that are sent, and how the server must answer. */
export interface Attack {
  /** What is sent, and where. */
  readonly name: string;
  readonly by: Sender;
  /** Sends it; resolves with the answer in words, as the senders in `send/` give it. */
  readonly send: (target: Target) => Promise<string>;
  /** The answers that are right. */
  readonly expected: readonly string[];
}
