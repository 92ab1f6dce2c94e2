import type { Making } from "../keys/make-key.ts";
import type { Tx } from "../store.ts";
import { auditSession, type From } from "./enter.ts";
import type { Session } from "./session.ts";

/** A proof counts as fresh for so long, where no password can be asked for. */
const freshMs = 10 * 60_000;
/** After a one-time link the first password can be chosen for so long. */
const choosingMs = 3_600_000;

/** True when a new password may be set without the old one: right after a one-time link, or there is none and the proof is fresh. */
export async function mayChoosePassword(tx: Pick<Tx, "links" | "signIns">, session: Session, now: number): Promise<boolean> {
  const { accountId, createdAt, provedAt } = session;
  // A session of a link is as old as that link's use, to the millisecond: one transaction made both.
  if (now - createdAt < choosingMs && provedAt === createdAt && (await tx.links.usedAt(accountId, createdAt))) return true;
  return now - provedAt < freshMs && (await tx.signIns.password(accountId)) === null;
}

/** Sets a password: every other session of the account ends, and its open links are used up. */
export async function setPassword(tx: Tx, making: Making, session: Session, stored: string, from: From): Promise<void> {
  const { accountId, id } = session;
  await tx.accounts.lock(accountId);
  await tx.signIns.setPassword(accountId, stored);
  await tx.sessions.endOthers(accountId, id);
  await tx.links.useUp(accountId, null, making.now);
  await auditSession(tx, making, session, from, "ChangePassword");
}
