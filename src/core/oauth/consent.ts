import type { Making } from "../keys/make-key.ts";
import type { Tx } from "../store.ts";
import { type AuthorizationRequest, errorRedirect, redirectWith } from "./authorization.ts";
import { codeDigest, codeMs, codeText } from "./code.ts";
import type { OAuthGrant } from "./grant.ts";
import { type ScopeName, scopeNames } from "./scope.ts";

/** What a user has said yes to. */
export interface Approval {
  readonly request: AuthorizationRequest;
  readonly accountId: string;
  /** The app's team's space, where the account is an active member: the caller has seen to that (contract/decisions.md 28). */
  readonly spaceId: string;
  /** The connectors chosen on the page; null leaves the grant's as they are: no choice was shown. */
  readonly connectorUids: readonly string[] | null;
}

/** An approval's code, this once, and where to send the browser with it. */
export interface Approved {
  readonly code: string;
  readonly location: string;
  readonly grantId: string;
}

/**
 * Writes the grant down and makes a code for it. `request.app` must be the app as the
 * user saw it: had it grown since, the code opens nothing. The caller writes the audit
 * row, with what is noted here.
 *
 * @param short what makes the code: a short id that nobody can guess, and nobody else was given.
 */
export async function approve(tx: Tx, { now, ids }: Making, approval: Approval, short = ids.short()): Promise<Approved> {
  const { request, accountId, spaceId } = approval;
  const { app, redirectUri, scopes, challenge } = request;
  const { clientId, generation } = app;
  const grantId = await grant(tx, { now, ids }, approval);
  const code = codeText(clientId, short);
  const of = { clientId, grantId, accountId, spaceId, redirectUri, scopes, challenge, generation };
  await tx.codes.insert({ ...of, digest: codeDigest(code), createdAt: now, expiresAt: now + codeMs });
  return { code, location: redirectWith(request, { code }), grantId };
}

/** Joins what is new to the grant that lives, or makes one. */
async function grant(tx: Tx, { now, ids }: Pick<Making, "now" | "ids">, approval: Approval): Promise<string> {
  const { request, accountId, spaceId, connectorUids: chosen } = approval;
  const { clientId, generation, ...app } = request.app;
  const none = { scopes: [], connectorUids: [], generation, createdAt: now, updatedAt: now };
  const before = await tx.grants.lock({ id: ids.short(), accountId, spaceId, clientId, ...none });
  const scopes = ofApp([...before.scopes, ...request.scopes], app.scopes);
  const connectorUids = [...new Set(chosen ?? before.connectorUids)].filter((uid) => app.connectorUids.includes(uid));
  await tx.grants.update({ id: before.id, scopes, connectorUids, generation, updatedAt: now });
  const told = ({ scopes, connectorUids }: Pick<OAuthGrant, "scopes" | "connectorUids">) => ({ clientId, scopes, connectorUids });
  tx.audit.note({ subject: before.id, before: told(before), after: told({ scopes, connectorUids }) });
  return before.id;
}

/** What other authorizations of the app were given stays, as far as the app still has it. */
const ofApp = (scopes: readonly ScopeName[], configured: readonly ScopeName[]): ScopeName[] =>
  scopeNames.filter((name) => scopes.includes(name) && configured.includes(name));

/** Where the browser goes when the user says no. */
export const declined = (request: AuthorizationRequest): string => errorRedirect(request, "access_denied", "the user has declined");

/**
 * Whether the page has to be shown: at first, after a revocation, when the app wants
 * more than it was given, or has grown since, and at `prompt=consent` (contract/oauth.md 13).
 *
 * @param grant the living one; null where there is none.
 */
export function needsConsent(grant: OAuthGrant | null, { app, scopes, prompt }: AuthorizationRequest): boolean {
  if (grant === null || prompt === "consent" || grant.generation !== app.generation) return true;
  return scopes.some((name) => !grant.scopes.includes(name));
}
