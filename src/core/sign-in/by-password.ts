import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";
import type { CountAttempt } from "./attempts.ts";
import { type Proven, passwordMark } from "./enter.ts";
import { hashPassword, isOutdated, isPassword } from "./password-hash.ts";

/** What somebody typed, and from where. */
export interface Typed {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

/** No account has this id: it is looked up where there is none, so that this takes as long. */
const nobody = "";

/**
 * Proves an account by e-mail address and password. An unknown account, one without
 * a password, and one that may sign in nowhere (inactive, delegated, removed) cost
 * the same work and get the same answer.
 *
 * @returns null when it proves nothing.
 * @throws Failure `limited` for too many attempts, `unavailable` when too many others are being checked.
 */
export async function proveByPassword(store: Store, clock: Clock, count: CountAttempt, typed: Typed): Promise<Proven | null> {
  const email = typed.email.trim().toLowerCase();
  await count(email, typed.address);
  const account = await store.accounts.byEmail(email);
  const accountId = account?.id ?? nobody;
  const stored = await store.signIns.password(accountId);
  const places = await store.signIns.places(accountId);
  const proves = await isPassword(typed.password, places.length === 0 ? null : stored);
  if (!proves || stored === null) return null;
  const kept = await refreshed(store, accountId, typed.password, stored);
  return { accountId, provedAt: clock.now(), by: "password", password: passwordMark(kept) };
}

/** Hashes a password anew when the parameters have grown, unless it was changed meanwhile. */
async function refreshed(store: Store, accountId: string, text: string, stored: string): Promise<string> {
  if (!isOutdated(stored)) return stored;
  const fresh = await hashPassword(text);
  return store.change(async (tx) => {
    await tx.accounts.lock(accountId);
    if ((await tx.signIns.password(accountId)) !== stored) return stored;
    await tx.signIns.setPassword(accountId, fresh);
    return fresh;
  });
}
