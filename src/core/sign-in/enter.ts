import { createHash } from "node:crypto";
import type { Making } from "../keys/make-key.ts";
import type { Tx } from "../store.ts";
import { newSessionText, type Session, sessionDigest, sessionMs } from "./session.ts";
import type { Place } from "./sign-in.ts";

/** Somebody who has proved to be an account, and is in none of its spaces yet. */
export interface Proven {
  readonly accountId: string;
  readonly provedAt: number;
  readonly by: "password" | "link" | "single sign-on" | "another space";
  /** Of the stored password that was proved: a change of it meanwhile ends this. Null for the other ways. */
  readonly password: string | null;
}

/** What a request says of itself, for the audit log. */
export interface From {
  readonly requestId: string;
  readonly address: string;
}

/** Tells one stored password from another. */
export const passwordMark = (stored: string): string => createHash("sha256").update(stored).digest("base64url");

/**
 * Signs somebody in to one of their spaces. Whether they still may is looked at in the
 * change; so a password that is changed, or a member who is deactivated at the same
 * time, leaves no session behind.
 *
 * @param replaced the session that the browser had before: it ends.
 * @returns the cookie's text, given this once; null when they may not.
 */
export async function enter(
  tx: Tx,
  making: Making,
  proven: Proven,
  spaceId: string,
  { from, replaced }: { readonly from: From; readonly replaced: Session | null },
): Promise<string | null> {
  await tx.accounts.lock(proven.accountId);
  const place = (await tx.signIns.places(proven.accountId)).find((each) => each.spaceId === spaceId);
  if (!place || !(await stillProves(tx, proven))) return null;
  const text = newSessionText(making.random);
  const { accountId, provedAt } = proven;
  const id = making.ids.short();
  const session = {
    id,
    digest: sessionDigest(text),
    accountId,
    spaceId,
    createdAt: making.now,
    provedAt,
    expiresAt: making.now + sessionMs,
  };
  if (replaced) await tx.sessions.end(replaced.id);
  await tx.sessions.insert(session);
  await noteEntry(tx, making, place);
  await auditSession(tx, making, session, from, "SignIn", { by: proven.by });
  return text;
}

async function stillProves(tx: Tx, { accountId, password }: Proven): Promise<boolean> {
  if (password === null) return true;
  const stored = await tx.signIns.password(accountId);
  return stored !== null && passwordMark(stored) === password;
}

async function noteEntry(tx: Tx, { now }: Making, { team }: Place): Promise<void> {
  if (team !== null) await tx.signIns.signedIn(team.memberId, now);
}

/** Takes a session to another space of its account: a new cookie, proved when the old one was. */
export async function switchSpace(tx: Tx, making: Making, session: Session, spaceId: string, from: From): Promise<string | null> {
  const { accountId, provedAt } = session;
  return enter(tx, making, { accountId, provedAt, by: "another space", password: null }, spaceId, { from, replaced: session });
}

/** Writes the audit row of what happened to a session. */
export async function auditSession(
  tx: Tx,
  { now, ids }: Making,
  { id, accountId, spaceId }: Session,
  { requestId, address }: From,
  what: "SignIn" | "SignOut" | "ChangePassword" | "Reauthenticate",
  after: Readonly<Record<string, unknown>> | null = null,
): Promise<void> {
  const entry = { id: ids.short(), at: now, spaceId, accountId, credential: `session:${id}`, requestId, address };
  await tx.audit.insert({ ...entry, operation: `console/${what}`, subject: accountId, before: null, after });
}
