import { createHash } from "node:crypto";
import type { CreationContext } from "../keys/api-key.ts";
import type { Tx } from "../store.ts";
import { newSessionText, type Session, type SignInSpace, sessionDigest, sessionMs } from "./sign-in.ts";

/** How a second step was proven. */
export type SecondProof = "code" | "recovery code";

/** A proof of an account's identity. No space is chosen yet. */
export interface IdentityProof {
  readonly accountId: string;
  readonly provedAt: number;
  readonly by: "password" | "link" | "single sign-on" | "passkey";
  /**
   * Digest of the stored password that was verified: a change of the password invalidates the proof. Null for
   * the other ways.
   */
  readonly password: string | null;
  /** How the second step was proven, where the account needs one. */
  readonly second?: SecondProof;
  /** The passkey that was used: its removal invalidates the proof. */
  readonly passkeyId?: string;
}

/** The origin of a request, for the audit log. */
export interface RequestOrigin {
  readonly requestId: string;
  readonly address: string;
}

export const passwordDigest = (stored: string): string =>
  createHash("sha256").update(stored).digest("base64url");

/**
 * Signs an account in to one of its spaces. The change checks the permission again, so that a
 * concurrent password change or deactivation of the member leaves no session.
 *
 * @param replaced the browser's previous session: it ends.
 * @returns the cookie's text, returned only once; null when the account is not allowed in.
 */
export async function startSession(
  tx: Tx,
  context: CreationContext,
  proven: IdentityProof,
  spaceId: string,
  { from, replaced }: { from: RequestOrigin; replaced: Session | null },
): Promise<string | null> {
  await tx.accounts.lock(proven.accountId);
  const membership = (await tx.signIns.listSpaces(proven.accountId)).find((each) => each.spaceId === spaceId);
  if (!membership || !(await isStillValid(tx, proven))) return null;
  const text = newSessionText(context.random);
  const { accountId, provedAt } = proven;
  const id = context.ids.short();
  const session = {
    id,
    digest: sessionDigest(text),
    accountId,
    spaceId,
    createdAt: context.now,
    provedAt,
    expiresAt: context.now + sessionMs,
  };
  if (replaced) await tx.sessions.end(replaced.id);
  await tx.sessions.insert(session);
  await recordSignIn(tx, context, membership);
  await auditSession(tx, context, session, from, "SignIn", {
    by: proven.by,
    ...(proven.second ? { second: proven.second } : {}),
  });
  return text;
}

/** Whether the account needs a code after this proof. A passkey and a provider's identity need none. */
export async function needsSecondStep(
  tx: Pick<Tx, "factors">,
  { by, accountId, second }: IdentityProof,
): Promise<boolean> {
  const isFirst = (by === "password" || by === "link") && second === undefined;
  return isFirst && (await tx.factors.authenticator(accountId)) !== null;
}

async function isStillValid(tx: Tx, proven: IdentityProof): Promise<boolean> {
  const { accountId, password, passkeyId } = proven;
  // Also for a proof that is older than the authenticator app.
  if (await needsSecondStep(tx, proven)) return false;
  if (passkeyId !== undefined)
    return (await tx.factors.passkeys(accountId)).some(({ id }) => id === passkeyId);
  if (password === null) return true;
  const stored = await tx.signIns.password(accountId);
  return stored !== null && passwordDigest(stored) === password;
}

async function recordSignIn(tx: Tx, { now }: CreationContext, { team }: SignInSpace): Promise<void> {
  if (team !== null) await tx.signIns.recordFirstSignIn(team.memberId, now);
}

/**
 * Changes of a session, and of what its person signs in with, as the audit log names them after `console/`.
 */
export type SessionChange =
  | "SignIn"
  | "SignOut"
  | "ChangePassword"
  | "Reauthenticate"
  | "AddPasskey"
  | "RenamePasskey"
  | "RemovePasskey"
  | "AddAuthenticator"
  | "RemoveAuthenticator"
  | "ReplaceRecoveryCodes";

export async function auditSession(
  tx: Tx,
  { now, ids }: CreationContext,
  { id, accountId, spaceId }: Session,
  { requestId, address }: RequestOrigin,
  what: SessionChange,
  after: Readonly<Record<string, unknown>> | null = null,
): Promise<void> {
  const entry = {
    id: ids.short(),
    at: now,
    spaceId,
    accountId,
    credential: `session:${id}`,
    requestId,
    address,
  };
  await tx.audit.insert({ ...entry, operation: `console/${what}`, subject: accountId, before: null, after });
}
