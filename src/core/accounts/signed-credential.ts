import type { Caller, CallerCredential } from "./caller.ts";

/**
 * A credential by its id, as an address of this installation names it: the address is signed, so it needs no
 * secret.
 */
export interface SignedCredential {
  readonly kind: Exclude<CallerCredential["kind"], "worker">;
  readonly id: string;
  /** The app whose tasks alone are visible; null for all tasks of the account. */
  readonly clientId: string | null;
}

/**
 * The credential of a caller for a signed address. @throws TypeError for a worker, which makes no addresses.
 */
export function toSignedCredential(caller: Pick<Caller, "clientId" | "credential">): SignedCredential {
  const { clientId = null, credential } = caller;
  const { kind, id } = credential;
  if (kind === "worker") throw new TypeError("a worker makes no signed addresses");
  return { kind, id, clientId };
}
