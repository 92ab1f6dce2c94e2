import type { Tx } from "../store.ts";
import type { Account } from "./account.ts";

/** The account behind an address, which nobody erases before this change ends; null where there is none. */
export async function knownAccount(tx: Tx, email: string): Promise<Account | null> {
  const account = await tx.accounts.byEmail(email);
  if (account === null) return null;
  await tx.accounts.lock(account.id);
  // It may have been erased before the lock was there.
  return tx.accounts.byEmail(email);
}
