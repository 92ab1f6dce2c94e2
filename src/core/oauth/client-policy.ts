import type { Caller } from "../accounts/caller.ts";
import type { Tx } from "../store.ts";

/** Whether unverified clients may act in the caller's space (spec/oauth.md 16.3). */
export const allowsUnverified = async (tx: Tx, { spaceId }: Caller): Promise<boolean> =>
  !(await tx.apps.deniesUnverified(spaceId));

/**
 * Sets whether unverified clients may act in the caller's space. Their tokens are checked against it at each
 * call.
 */
export async function setClientPolicy(tx: Tx, caller: Caller, allowUnverified: boolean): Promise<void> {
  const { spaceId } = caller;
  await tx.accounts.lockSpace(spaceId);
  const before = await allowsUnverified(tx, caller);
  await tx.apps.setDeniesUnverified(spaceId, !allowUnverified);
  tx.audit.note({ subject: spaceId, before: { allowUnverified: before }, after: { allowUnverified } });
}
