import { proofMs } from "../accounts/ownership.ts";
import type { Cipher } from "../cipher.ts";
import { Failure, notFound } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import type { Recipient } from "../keys/recipient.ts";
import type { Tx } from "../store.ts";
import { authenticatorContext, type Passkey, passkeysMax } from "./factor.ts";
import { useUpLinks } from "./mailed-link.ts";
import { newRecoveryCodes, recoveryDigest } from "./second-step.ts";
import type { Session } from "./sign-in.ts";
import { auditSession, type RequestOrigin, type SessionChange } from "./start-session.ts";

/** Who changes what they sign in with, in which session. */
export interface FactorChange {
  readonly tx: Tx;
  readonly context: CreationContext;
  readonly session: Session;
  readonly from: RequestOrigin;
}

/** The session has no proof of the last five minutes, or has ended. */
export class StaleProof extends Error {}

/** Whether a session was proved in the last five minutes. */
export const isFresh = ({ provedAt }: Pick<Session, "provedAt">, now: number): boolean =>
  now - provedAt <= proofMs;

/**
 * Begins a change: one at a time for an account, by a session that is valid and freshly proved now. @throws
 * StaleProof
 */
async function begin({ tx, context, session }: FactorChange): Promise<void> {
  await tx.accounts.lock(session.accountId);
  const current = (await tx.sessions.holderById(session.id))?.session;
  if (!current || current.expiresAt <= context.now || !isFresh(current, context.now)) throw new StaleProof();
}

/** Ends what a new password ends: every other session, and open links. */
async function endOthers({ tx, context, session: { accountId, id } }: FactorChange): Promise<void> {
  await tx.sessions.endOthers(accountId, id);
  await useUpLinks(tx, accountId, context.now);
}

const audit = (
  { tx, context, session, from }: FactorChange,
  what: SessionChange,
  after: Readonly<Record<string, unknown>> | null = null,
) => auditSession(tx, context, session, from, what, after);

export type NewPasskey = Pick<Passkey, "credentialId" | "publicKey" | "counter" | "userHandle" | "name">;

/**
 * Adds a passkey, and ends the person's other sessions.
 *
 * @returns what is wrong: the account has 20 already, or the passkey is known; null once it is added.
 * @throws StaleProof
 */
export async function addPasskey(
  change: FactorChange,
  added: NewPasskey,
): Promise<"too many" | "known" | null> {
  const { tx, context, session } = change;
  const { accountId } = session;
  await begin(change);
  if ((await tx.factors.passkeys(accountId)).length >= passkeysMax) return "too many";
  const id = context.ids.short();
  if (!(await tx.factors.insertPasskey({ ...added, id, accountId, createdAt: context.now, usedAt: null })))
    return "known";
  await endOthers(change);
  await audit(change, "AddPasskey", { passkey: id, name: added.name });
  return null;
}

/** @throws StaleProof, Failure `not_found` for a passkey of another account. */
export async function renamePasskey(change: FactorChange, id: string, name: string): Promise<void> {
  await begin(change);
  if (!(await change.tx.factors.renamePasskey(change.session.accountId, id, name))) throw notFound("passkey");
  await audit(change, "RenamePasskey", { passkey: id, name });
}

/**
 * Removes a passkey, and ends the person's other sessions.
 *
 * @returns false when the person could no longer sign in: it is the last passkey of an account with neither a
 * password nor an identity at a provider.
 * @throws StaleProof, Failure `not_found` for a passkey of another account.
 */
export async function removePasskey(change: FactorChange, id: string): Promise<boolean> {
  const { tx, session } = change;
  const { accountId } = session;
  await begin(change);
  const passkeys = await tx.factors.passkeys(accountId);
  if (!passkeys.some((passkey) => passkey.id === id)) throw notFound("passkey");
  const isLast = passkeys.length === 1 && (await tx.signIns.password(accountId)) === null;
  if (isLast && (await tx.signIns.identity(accountId)) === null) return false;
  await tx.factors.removePasskey(accountId, id);
  await endOthers(change);
  await audit(change, "RemovePasskey", { passkey: id });
  return true;
}

/** An authenticator app whose first code was right. */
export interface ConfirmedApp {
  readonly secret: Uint8Array;
  readonly step: number;
}

/**
 * Adds an authenticator app, and ends the person's other sessions.
 *
 * @returns the recovery codes, which are shown only now; null when the account has an app.
 * @throws StaleProof
 */
export async function addAuthenticator(
  change: FactorChange,
  cipher: Pick<Cipher, "seal">,
  { secret, step }: ConfirmedApp,
): Promise<readonly string[] | null> {
  const { tx, context, session } = change;
  const { accountId } = session;
  await begin(change);
  const sealed = cipher.seal(secret, authenticatorContext(accountId));
  const row = { accountId, secret: sealed, lastStep: step, createdAt: context.now };
  if (!(await tx.factors.insertAuthenticator(row))) return null;
  await endOthers(change);
  await audit(change, "AddAuthenticator");
  return await putCodes(change);
}

/**
 * Removes the authenticator app with its recovery codes, and ends the person's other sessions. @throws
 * StaleProof
 */
export async function removeAuthenticator(change: FactorChange): Promise<void> {
  const { tx, session } = change;
  await begin(change);
  if (!(await tx.factors.removeAuthenticator(session.accountId))) return;
  await tx.factors.replaceRecoveryCodes(session.accountId, [], change.context.now);
  await endOthers(change);
  await audit(change, "RemoveAuthenticator");
}

/**
 * Replaces all recovery codes. @returns the new ones; null without an authenticator app. @throws StaleProof
 */
export async function replaceRecoveryCodes(change: FactorChange): Promise<readonly string[] | null> {
  await begin(change);
  if ((await change.tx.factors.authenticator(change.session.accountId)) === null) return null;
  await audit(change, "ReplaceRecoveryCodes");
  return await putCodes(change);
}

async function putCodes({ tx, context, session: { accountId } }: FactorChange): Promise<readonly string[]> {
  const codes = newRecoveryCodes(context.random);
  const digests = codes.map((code) => recoveryDigest(accountId, code));
  await tx.factors.replaceRecoveryCodes(accountId, digests, context.now);
  return codes;
}

/**
 * Removes the passkeys, the authenticator app and the recovery codes of a person, and ends all of their
 * sessions. Only a command calls it.
 *
 * @returns a space of the account, for the audit row, and whether the person has a password.
 * @throws Failure `not_found` for an unknown address, `failed_precondition` for an account that has no space
 * to sign in to.
 */
export async function resetFactors(
  tx: Tx,
  email: string,
  now: number,
): Promise<Recipient & { hasPassword: boolean }> {
  const account = await tx.accounts.byEmail(email.trim().toLowerCase());
  if (account === null) throw notFound(`an account of ${email}`);
  const { id: accountId } = account;
  await tx.accounts.lock(accountId);
  const [space] = await tx.signIns.listSpaces(accountId);
  if (space === undefined)
    throw new Failure("failed_precondition", `${email} cannot sign in: the account has no space`);
  const passkeys = await tx.factors.passkeys(accountId);
  for (const { id } of passkeys) await tx.factors.removePasskey(accountId, id);
  const authenticator = await tx.factors.removeAuthenticator(accountId);
  await tx.factors.replaceRecoveryCodes(accountId, [], now);
  await tx.sessions.endOthers(accountId, null);
  await useUpLinks(tx, accountId, now);
  tx.audit.note({ subject: accountId, before: { passkeys: passkeys.length, authenticator } });
  return { accountId, spaceId: space.spaceId, hasPassword: (await tx.signIns.password(accountId)) !== null };
}
