import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { CreationContext } from "../keys/api-key.ts";
import type { Tx } from "../store.ts";
import { type HashTurn, hashQueue } from "./hash-queue.ts";
import { useUpLinks } from "./mailed-link.ts";
import type { Session } from "./sign-in.ts";
import { auditSession, type RequestOrigin } from "./start-session.ts";

/** A proof is fresh for 10 minutes, when the account has no password to verify. */
const freshMs = 10 * 60_000;
/** After a one-time link the first password can be set for one hour. */
const choosingMs = 3_600_000;

/**
 * True when a new password may be set without the old one: shortly after a one-time link, or with a fresh
 * proof when the account has no password.
 */
export async function mayChoosePassword(
  tx: Pick<Tx, "links" | "mailedLinks" | "signIns">,
  session: Session,
  now: number,
): Promise<boolean> {
  const { accountId, provedAt } = session;
  // A session of a link was proved at the time of the link's use, to the millisecond, also when a code
  // followed.
  const byLink = async () =>
    (await tx.links.wasUsedAt(accountId, provedAt)) || (await tx.mailedLinks.wasUsedAt(accountId, provedAt));
  if (now - provedAt < choosingMs && (await byLink())) return true;
  return now - provedAt < freshMs && (await tx.signIns.password(accountId)) === null;
}

/** Sets a password, ends every other session of the account, and marks its open links as used. */
export async function setPassword(
  tx: Tx,
  context: CreationContext,
  session: Session,
  stored: string,
  from: RequestOrigin,
): Promise<void> {
  const { accountId, id } = session;
  await tx.accounts.lock(accountId);
  await tx.signIns.setPassword(accountId, stored);
  await tx.sessions.endOthers(accountId, id);
  await useUpLinks(tx, accountId, context.now);
  await auditSession(tx, context, session, from, "ChangePassword");
}

/** The cost of a hash: 32 MB and about 250 ms on a common processor (OWASP's recommendation for scrypt). */
const cost = { ln: 15, r: 8, p: 3 } as const;
const hashBytes = 32;
const saltBytes = 16;

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/** The stored form: `$scrypt$ln=15,r=8,p=3$SALT$HASH` (the PHC string format). */
const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

interface Stored {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/**
 * A hash that no password has. It is compared when the account has none, so that both cases take the same
 * time.
 */
const dummyHash: Stored = { ...cost, salt: Buffer.alloc(saltBytes), hash: Buffer.alloc(hashBytes) };

export async function hashPassword(text: string, turn: HashTurn): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await deriveHash(text, { ...cost, salt }, turn);
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(hash)}`;
}

/** True when the text is the password. When `stored` is null, does the same work and returns false. */
export async function verifyPassword(text: string, stored: string | null, turn: HashTurn): Promise<boolean> {
  const known = stored === null ? null : readHash(stored);
  const expected = known ?? dummyHash;
  return timingSafeEqual(await deriveHash(text, expected, turn), expected.hash) && known !== null;
}

/** True when the parameters were raised since: the next successful sign-in stores a new hash. */
export function isOutdated(stored: string): boolean {
  const { ln, r, p } = readHash(stored) ?? dummyHash;
  return ln < cost.ln || r < cost.r || p < cost.p;
}

function readHash(stored: string): Stored | null {
  const [, ln, r, p, salt = "", hash = ""] = form.exec(stored) ?? [];
  if (ln === undefined) return null;
  return {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, "base64"),
    hash: Buffer.from(hash, "base64"),
  };
}

const base64 = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

/** One queue per process, because memory and threads belong to the process. */
export const passwordTurns = hashQueue();

function deriveHash(text: string, { ln, r, p, salt }: Omit<Stored, "hash">, turn: HashTurn): Promise<Buffer> {
  const N = 2 ** ln;
  return passwordTurns(turn, () =>
    derive(text.normalize("NFKC"), salt, hashBytes, { N, r, p, maxmem: 128 * N * r * 2 }),
  );
}

export const passwordLength = { min: 12, max: 1024 } as const;

/** True when a new password has an allowed length; characters are counted after NFKC. */
export function isNewPassword(text: string): boolean {
  const length = [...text.normalize("NFKC")].length;
  return length >= passwordLength.min && length <= passwordLength.max;
}

/**
 * True when this is the account's password. An unknown account, or one without a password,
 * costs the same work. Does not count attempts. The caller has signed in to the account.
 *
 * @throws Failure `unavailable` when too many passwords are being verified.
 */
export async function checkPassword(
  store: Pick<Tx, "signIns">,
  accountId: string,
  text: string,
): Promise<boolean> {
  return verifyPassword(text, await store.signIns.password(accountId), { account: accountId });
}
