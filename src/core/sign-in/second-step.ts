import { createHash } from "node:crypto";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Random } from "../ids.ts";
import { countThisHour } from "../processes/hourly.ts";
import type { RateCounters } from "../processes/shared.ts";
import type { Tx } from "../store.ts";
import { authenticatorContext } from "./factor.ts";
import type { IdentityProof, SecondProof } from "./start-session.ts";
import { base32, isCode, stepOf } from "./totp.ts";

/** The time to enter the code after the password. */
export const secondStepMs = 5 * 60_000;
const recoveryCodes = 10;
/**
 * Codes per account and hour: guesses of someone who knows the password. Of a million codes three are valid
 * at a time.
 */
const codesPerHour = 20;

/**
 * A first proof that waits for a code. Only this installation can seal it; it grants no other access, and it
 * works once.
 */
export interface SecondStep {
  /** Random. */
  readonly id: string;
  readonly expiresAt: number;
  readonly proven: IdentityProof;
  readonly email: string;
  /** The space of a link; null: the person chooses. */
  readonly spaceId: string | null;
}

/** The digest under which a ticket is stored once it was used. */
export const ticketDigest = (id: string): string => createHash("sha256").update(`ticket ${id}`).digest("hex");

/** Ten new recovery codes, 80 bits each, as people read them: `ABCD-EFGH-IJKL-MNOP`. */
export const newRecoveryCodes = (random: Random): readonly string[] =>
  Array.from({ length: recoveryCodes }, () => (base32(random(10)).match(/.{4}/g) ?? []).join("-"));

/**
 * The stored form of a code; blanks, hyphens and letter case do not count. It has 80 random bits, so a plain
 * hash is enough.
 */
export function recoveryDigest(accountId: string, code: string): string {
  const typed = code.replace(/[\s-]/g, "").toUpperCase();
  return createHash("sha256").update(`recovery ${accountId} ${typed}`).digest("hex");
}

/** Counts a code before it is compared. @throws Failure `rate_limited` */
export async function countCode(
  counters: RateCounters,
  { now }: Pick<Clock, "now">,
  accountId: string,
): Promise<void> {
  const key = `sign-in code ${createHash("sha256").update(accountId).digest("base64url")}`;
  await countThisHour(counters, now(), { key, max: codesPerHour, refusal: "too many codes" });
}

/** Accepts a code of the authenticator app, once. False for any other text. */
export async function useCode(
  tx: Pick<Tx, "factors">,
  cipher: Pick<Cipher, "open">,
  accountId: string,
  typed: string,
  now: number,
): Promise<boolean> {
  const code = typed.replace(/\s/g, "");
  const row = isCode(code) ? await tx.factors.authenticator(accountId) : null;
  const step = row && stepOf(cipher.open(row.secret, authenticatorContext(accountId)), code, now);
  return step !== null && (await tx.factors.useStep(accountId, step));
}

/** The ticket was used by another request, or has expired. */
export class UsedTicket extends Error {}

/**
 * Proves the second step by a code of the app or a recovery code, and marks the ticket as used.
 *
 * @param typed at most 32 KiB, the bound of a form.
 * @returns null for a wrong code: the ticket can be tried again.
 * @throws UsedTicket which rolls the change back.
 */
export async function passSecondStep(
  tx: Pick<Tx, "accounts" | "factors">,
  cipher: Pick<Cipher, "open">,
  { id, expiresAt, proven: { accountId } }: SecondStep,
  typed: string,
  now: number,
): Promise<SecondProof | null> {
  await tx.accounts.lock(accountId);
  const by = await provenBy(tx, cipher, accountId, typed, now);
  if (by !== null && !(await tx.factors.spend(ticketDigest(id), expiresAt))) throw new UsedTicket();
  return by;
}

async function provenBy(
  tx: Pick<Tx, "factors">,
  cipher: Pick<Cipher, "open">,
  accountId: string,
  typed: string,
  now: number,
): Promise<SecondProof | null> {
  if (await useCode(tx, cipher, accountId, typed, now)) return "code";
  return (await tx.factors.useRecoveryCode(accountId, recoveryDigest(accountId, typed)))
    ? "recovery code"
    : null;
}
