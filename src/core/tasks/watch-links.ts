import type { Caller } from "../accounts/caller.ts";
import { type SignedCredential, toSignedCredential } from "../accounts/signed-credential.ts";
import type { Cipher } from "../cipher.ts";
import { signedTokens } from "../signed-token.ts";

/** What an address allows: to watch one task with the rights of one credential. */
export interface WatchGrant {
  readonly taskId: string;
  readonly credential: SignedCredential;
}

/**
 * Addresses that allow their holder to watch a task without a header:
 * `{base}/watches?token={grant}.{signature}` (spec/decisions.md 61).
 */
export interface WatchLinks {
  /** @param until Unix milliseconds. @throws TypeError for a worker, which cannot call task.watchUrl. */
  create(caller: Caller, taskId: string, until: number): string;
  /** The grant of a token, which is unchecked text; null for a forged or expired one. */
  read(token: string, now: number): WatchGrant | null;
}

/** The members of a token. */
type Signed = readonly [
  taskId: string,
  kind: SignedCredential["kind"],
  credentialId: string,
  clientId: string | null,
  until: number,
];

/** @param baseUrl where callers reach this installation; no slash at its end. */
export function watchLinks(cipher: Pick<Cipher, "createMac">, baseUrl: string): WatchLinks {
  const tokens = signedTokens<Signed>(cipher, "task watch link");
  return {
    create(caller, taskId, until) {
      const { kind, id, clientId } = toSignedCredential(caller);
      return `${baseUrl}/watches?token=${tokens.create([taskId, kind, id, clientId, until])}`;
    },
    read(token, now) {
      const signed = tokens.read(token);
      if (signed === null) return null;
      const [taskId, kind, id, clientId, until] = signed;
      return now < until ? { taskId, credential: { kind, id, clientId } } : null;
    },
  };
}
