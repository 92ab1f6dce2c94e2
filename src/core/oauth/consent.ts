import { type Caller, lockActiveMember, type ScopeName, scopeNames } from "../accounts/caller.ts";
import { invalidArgument, notFound } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import type { Tx } from "../store.ts";
import { type AuthorizationRequest, errorLocation, responseLocation } from "./authorization.ts";
import { codeDigest, codeMs, codeText } from "./code.ts";
import type { GrantKey, OAuthGrant } from "./grant.ts";

/** The connectors that a user lets an app use from now on. */
export interface ConnectorChoice extends GrantKey {
  /** All granted connectors; those that the app does not have are ignored. */
  readonly connectorUids: readonly string[];
  readonly now: number;
}

/**
 * Replaces the connectors of a grant. Tokens have the new set from their next call on
 * (spec/oauth.md 3). The caller writes the audit row, with the facts noted here.
 *
 * @returns false when the grant is not active, or the app does not exist in the space.
 */
export async function chooseConnectors(
  tx: Tx,
  { connectorUids: chosen, now, ...key }: ConnectorChoice,
): Promise<boolean> {
  const { clientId, spaceId } = key;
  // Approvals take the same lock, so that neither change overwrites the other.
  const app = await tx.apps.lock(clientId);
  const grant = await tx.grants.find(key);
  if (app?.spaceId !== spaceId || grant === null) return false;
  const connectorUids = app.connectorUids.filter((uid) => chosen.includes(uid));
  await tx.grants.update({ ...grant, connectorUids, updatedAt: now });
  const auditFacts = (uids: readonly string[]) => ({ clientId, connectorUids: uids });
  tx.audit.note({
    subject: grant.id,
    before: auditFacts(grant.connectorUids),
    after: auditFacts(connectorUids),
  });
  return true;
}

/**
 * Replaces the connectors of the caller's grant to an app (spec/decisions.md 81).
 *
 * @returns the granted connectors.
 * @throws Failure `not_found` without an active grant with `use_connectors`, `invalid_argument` for a
 * connector that the app does not have.
 */
export async function updateGrantConnectors(
  tx: Tx,
  caller: Caller,
  { connectorUids, clientId, now }: Omit<ConnectorChoice, "accountId" | "spaceId">,
): Promise<readonly string[]> {
  await lockActiveMember(tx, caller);
  const { accountId, spaceId } = caller;
  const key = { accountId, spaceId, clientId };
  const app = await tx.apps.lock(clientId);
  const grant = app?.spaceId === spaceId ? await tx.grants.find(key) : null;
  if (!app || !grant?.scopes.includes("use_connectors")) throw notFound("grant");
  const unknown = connectorUids.findIndex((uid) => !app.connectorUids.includes(uid));
  if (unknown >= 0)
    throw invalidArgument(`connector_uids[${unknown}]`, "is not a connector that the app can request");
  await chooseConnectors(tx, { ...key, connectorUids, now });
  return app.connectorUids.filter((uid) => connectorUids.includes(uid));
}

export interface Approval {
  readonly request: AuthorizationRequest;
  readonly accountId: string;
  /**
   * The space of the app's team, or the one that the user chose. The caller has checked that the account may
   * act in it (spec/decisions.md 28, 117).
   */
  readonly spaceId: string;
  /**
   * The connectors chosen on the page; null when the page offered no choice: the grant's stay as they are.
   */
  readonly connectorUids: readonly string[] | null;
}

/** The code of an approval, returned only once, and the URL that passes it to the app. */
export interface ApprovalResult {
  readonly code: string;
  readonly location: string;
  readonly grantId: string;
}

/**
 * Writes the grant and creates a code for it. `request.app` must be the app as the user saw it:
 * if the app was expanded since, the code is invalid. The caller writes the audit row, with the
 * facts noted here.
 *
 * @param short the random part of the code: an unguessable short id that is used for nothing else.
 */
export async function approve(
  tx: Tx,
  { now, ids }: CreationContext,
  approval: Approval,
  short = ids.short(),
): Promise<ApprovalResult> {
  const { request, accountId, spaceId } = approval;
  const { app, redirectUri, scopes, challenge, resource } = request;
  const { clientId, generation } = app;
  const grantId = await writeGrant(tx, { now, ids }, approval);
  const code = codeText(clientId, short);
  const of = { clientId, grantId, accountId, spaceId, redirectUri, scopes, challenge, generation, resource };
  await tx.codes.insert({ ...of, digest: codeDigest(code), createdAt: now, expiresAt: now + codeMs });
  return { code, location: responseLocation(request, { code }), grantId };
}

type GrantInput = Omit<Approval, "request"> & {
  readonly request: Pick<AuthorizationRequest, "app" | "scopes">;
};

/** Adds scopes and connectors to the active grant, or creates one. Returns its id. */
export async function writeGrant(
  tx: Tx,
  { now, ids }: Pick<CreationContext, "now" | "ids">,
  approval: GrantInput,
): Promise<string> {
  const { request, accountId, spaceId, connectorUids: chosen } = approval;
  const { clientId, generation, ...app } = request.app;
  const none = { scopes: [], connectorUids: [], generation, createdAt: now, updatedAt: now };
  const before = await tx.grants.lock({ id: ids.short(), accountId, spaceId, clientId, ...none });
  const scopes = keepConfigured([...before.scopes, ...request.scopes], app.scopes);
  const connectorUids = [...new Set(chosen ?? before.connectorUids)].filter((uid) =>
    app.connectorUids.includes(uid),
  );
  await tx.grants.update({ id: before.id, scopes, connectorUids, generation, updatedAt: now });
  const auditFacts = ({ scopes, connectorUids }: Pick<OAuthGrant, "scopes" | "connectorUids">) => ({
    clientId,
    scopes,
    connectorUids,
  });
  tx.audit.note({
    subject: before.id,
    before: auditFacts(before),
    after: auditFacts({ scopes, connectorUids }),
  });
  return before.id;
}

/** Keeps scopes that earlier authorizations granted, if the app still has them. */
const keepConfigured = (scopes: readonly ScopeName[], configured: readonly ScopeName[]): ScopeName[] =>
  scopeNames.filter((name) => scopes.includes(name) && configured.includes(name));

/** The URL of the browser after the user declined. */
export const declinedLocation = (request: AuthorizationRequest): string =>
  errorLocation(request, "access_denied", "the user has declined");

/**
 * Whether the consent page is shown: at the first authorization, after a revocation, when the app requests
 * more than was granted, after an expansion, and with `prompt=consent` (spec/oauth.md 13).
 *
 * @param grant the active grant; null when there is none.
 */
export function requiresConsent(
  grant: OAuthGrant | null,
  { app, scopes, prompt }: AuthorizationRequest,
): boolean {
  if (grant === null || prompt === "consent" || grant.generation !== app.generation) return true;
  return scopes.some((name) => !grant.scopes.includes(name));
}
