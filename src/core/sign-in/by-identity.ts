import type { Tx } from "../store.ts";
import type { Proven } from "./enter.ts";
import type { Identity } from "./sign-in.ts";

/** Somebody whom an identity provider vouches for. */
export interface Vouched extends Identity {
  /** Lower case; null unless the provider says that it is verified. */
  readonly verifiedEmail: string | null;
}

/**
 * Finds the account of an identity, and binds it at its first sign-in: only then an
 * e-mail address counts, only a verified one, and only for an account that is bound
 * to nobody and has an open invitation to a space it may enter. That invitation is
 * used up (contract/decisions.md 34).
 *
 * @returns null for an identity that opens nothing.
 */
export async function proveByIdentity(tx: Tx, now: number, vouched: Vouched): Promise<Proven | null> {
  const accountId = (await tx.signIns.bound(vouched)) ?? (await bindInvited(tx, now, vouched));
  if (accountId === null || (await tx.signIns.places(accountId)).length === 0) return null;
  return { accountId, provedAt: now, by: "single sign-on", password: null };
}

async function bindInvited(tx: Tx, now: number, { issuer, subject, verifiedEmail }: Vouched): Promise<string | null> {
  const account = verifiedEmail === null ? null : await tx.accounts.byEmail(verifiedEmail);
  if (!account) return null;
  await tx.accounts.lock(account.id);
  const places = await tx.signIns.places(account.id);
  const invitations = await tx.links.openOf(account.id, now);
  const open = invitations.find(({ spaceId }) => places.some((place) => place.spaceId === spaceId));
  if (!open || !(await tx.signIns.bind(account.id, { issuer, subject }))) return null;
  await tx.links.useUp(account.id, open.spaceId, now);
  return account.id;
}
