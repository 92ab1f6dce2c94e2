import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { RateCounters } from "../processes/shared.ts";
import type { Store, Tx } from "../store.ts";
import type { HashTurn } from "./hash-queue.ts";
import { hashPassword, isOutdated, verifyPassword } from "./password.ts";
import type { Identity } from "./sign-in.ts";
import { type IdentityProof, passwordDigest } from "./start-session.ts";

/** Attempts to sign in by password per minute: per account, whether it exists or not, and per address. */
const perMinute = { account: 10, address: 30 } as const;

/** Counts an attempt, before any other check. @throws Failure `rate_limited` */
export type CountAttempt = (email: string, address: string) => Promise<void>;

/**
 * Limits attempts per minute, over all nodes. RATE_LIMITS does not disable these limits: they
 * prevent guessing of passwords.
 *
 * @param network the part of an address that counts as one client.
 */
export function attemptCounter(
  counters: RateCounters,
  clock: Clock,
  network: (address: string) => string,
): CountAttempt {
  async function count(kind: keyof typeof perMinute, subject: string): Promise<void> {
    const now = clock.now();
    const minute = Math.floor(now / 60_000);
    // The digest bounds the key's length and keeps e-mail addresses out of it.
    const key = `sign-in ${kind} ${createHash("sha256").update(subject).digest("base64url")}`;
    const { granted } = await counters.take(key, minute, 1, perMinute[kind]);
    const retryAfter = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
    if (granted === 0) throw new Failure("rate_limited", "too many attempts to sign in", { retryAfter });
  }
  return async (email, address) => {
    await count("address", network(address));
    await count("account", email);
  };
}

/** The credentials of a sign-in attempt, and its address. */
export interface PasswordCredentials {
  readonly email: string;
  readonly password: string;
  readonly address: string;
  /** The wider network of the address, which has one turn among others in the queue of hashes. */
  readonly network: string;
  readonly knownAccounts: readonly string[];
}

/**
 * An id that no account has. It is looked up for an unknown account, so that both cases take the same time.
 */
const noAccountId = "";

/**
 * Verifies an e-mail address and password. An unknown account, one without a password, and one that may sign
 * in nowhere (inactive, delegated, removed) cost the same work and get the same answer.
 *
 * @returns null when the credentials are wrong.
 * @throws Failure `rate_limited` for too many attempts, `unavailable` when too many passwords are being
 * verified.
 */
export async function proveByPassword(
  store: Store,
  clock: Clock,
  count: CountAttempt,
  typed: PasswordCredentials,
): Promise<IdentityProof | null> {
  const email = typed.email.trim().toLowerCase();
  const account = await store.accounts.byEmail(email);
  const accountId = account?.id ?? noAccountId;
  const isKnown = typed.knownAccounts.includes(accountId);
  // Attempts of others do not use up those of a browser that has signed in to the account before.
  await count(isKnown ? `known ${email}` : email, typed.address);
  const turn: HashTurn = isKnown ? { account: accountId } : { network: typed.network };
  const stored = await store.signIns.password(accountId);
  const places = await store.signIns.listSpaces(accountId);
  const isCorrect = await verifyPassword(typed.password, places.length === 0 ? null : stored, turn);
  if (!isCorrect || stored === null) return null;
  const currentHash = await rehashIfOutdated(store, accountId, typed.password, stored);
  return { accountId, provedAt: clock.now(), by: "password", password: passwordDigest(currentHash) };
}

/** Replaces a hash with outdated parameters, unless the password was changed in the meantime. */
async function rehashIfOutdated(
  store: Store,
  accountId: string,
  text: string,
  stored: string,
): Promise<string> {
  if (!isOutdated(stored)) return stored;
  const newHash = await hashPassword(text, { account: accountId });
  return store.change(async (tx) => {
    await tx.accounts.lock(accountId);
    if ((await tx.signIns.password(accountId)) !== stored) return stored;
    await tx.signIns.setPassword(accountId, newHash);
    return newHash;
  });
}

export interface ConfirmedIdentity extends Identity {
  /** Lower case; null unless the provider marks it as verified. */
  readonly verifiedEmail: string | null;
}

/**
 * Finds the account of an identity, or binds it at the first sign-in. Binding requires a
 * verified e-mail address of an account that has no identity and has an open invitation to a
 * space that it may enter. Binding uses up that invitation (spec/decisions.md 34).
 *
 * @returns null for an identity without an account.
 */
export async function proveByIdentity(
  tx: Tx,
  now: number,
  confirmed: ConfirmedIdentity,
): Promise<IdentityProof | null> {
  const accountId = (await tx.signIns.findByIdentity(confirmed)) ?? (await bindInvited(tx, now, confirmed));
  if (accountId === null || (await tx.signIns.listSpaces(accountId)).length === 0) return null;
  return { accountId, provedAt: now, by: "single sign-on", password: null };
}

async function bindInvited(
  tx: Tx,
  now: number,
  { issuer, subject, verifiedEmail }: ConfirmedIdentity,
): Promise<string | null> {
  const account = verifiedEmail === null ? null : await tx.accounts.byEmail(verifiedEmail);
  if (!account) return null;
  await tx.accounts.lock(account.id);
  const places = await tx.signIns.listSpaces(account.id);
  const invitations = await tx.links.listOpen(account.id, now);
  const open = invitations.find(({ spaceId }) => places.some((place) => place.spaceId === spaceId));
  if (!open || !(await tx.signIns.bindIdentity(account.id, { issuer, subject }))) return null;
  await tx.links.useUp(account.id, open.spaceId, now);
  return account.id;
}
