import { parseScopes, type ScopeName } from "../accounts/caller.ts";
import type { Tx } from "../store.ts";
import type { AuthenticatedClient, OAuthApp } from "./app.ts";
import {
  auditFamily,
  floorToSecond,
  type IssueContext,
  type IssuedTokens,
  type NewPair,
  newPair,
  toIssuedTokens,
} from "./issue.ts";
import { missingSecret, type OAuthRefusal, oauthRefusal, unauthorizedClient } from "./refusal.ts";
import type { Resource } from "./resource.ts";

/** Lifetime of a token of an app that acts as itself: 15 minutes. It has no refresh token. */
export const serviceMs = 900_000;

/** What an app may do as itself: it reaches only its own rows. */
const serviceScopes: readonly ScopeName[] = ["create_task"];

export const serviceScopesOf = ({ scopes }: Pick<OAuthApp, "scopes">): readonly ScopeName[] =>
  serviceScopes.filter((name) => scopes.includes(name));

/** A request with the grant type client_credentials (RFC 6749 4.4). */
export interface ServiceRequest extends AuthenticatedClient {
  /** The `scope` parameter; null when the request has none. */
  readonly scope: string | null;
  /** The `resource` parameter; undefined when the request has none. */
  readonly resource: Resource | undefined;
}

/** An app that a member lets act as itself. */
type ServiceApp = OAuthApp & { readonly spaceId: string; readonly serviceAccountId: string };

const isServiceApp = (app: OAuthApp | null): app is ServiceApp =>
  app !== null && app.spaceId !== null && app.serviceAccountId !== null;

/**
 * Issues an access token with which an app acts as itself. Its rows belong to the member who allows it, and
 * it reaches only those that it made.
 */
export async function issueServiceToken(
  tx: Tx,
  issuing: IssueContext,
  request: ServiceRequest,
): Promise<IssuedTokens | OAuthRefusal> {
  const { client, bySecret } = request;
  if (!bySecret) return missingSecret;
  // The lock orders this before or after a change that ends the permission: that one also ends the tokens.
  const app = client.deleted ? null : await tx.apps.lock(client.clientId);
  if (!isServiceApp(app)) return unauthorizedClient;
  const { spaceId, serviceAccountId, generation, clientId } = app;
  if (!(await tx.members.lockActive({ accountId: serviceAccountId, spaceId }))) return unauthorizedClient;
  const scopes = readScopes(app, request.scope);
  if (scopes === null)
    return oauthRefusal(
      "invalid_scope",
      "scope: an app that acts as itself has create_task only, if the app has it",
    );
  const { resource = null } = request;
  const of = {
    clientId,
    grantId: "",
    accountId: serviceAccountId,
    spaceId,
    scopes,
    generation,
    resource,
    challenge: null,
    needsSecret: true,
    service: true,
  };
  const family = { id: issuing.ids.short(), ...of, createdAt: issuing.now };
  const issued = newServicePair(issuing, family.id, clientId);
  await tx.families.insert({ ...family, ...issued.pair });
  await auditFamily(tx, issuing, "oauth/token", family, "service_token_issued");
  const state = await tx.families.findState(family.id);
  return state === null
    ? unauthorizedClient
    : toIssuedTokens(issuing, family, issued, scopes, state.authorization);
}

function readScopes(app: OAuthApp, requested: string | null): readonly ScopeName[] | null {
  const allowed = serviceScopesOf(app);
  return requested === null ? allowed : parseScopes(requested, allowed);
}

/** A pair whose refresh token no client gets, and which ends early. */
function newServicePair(issuing: IssueContext, familyId: string, clientId: string): NewPair {
  const made = newPair(issuing, familyId, clientId);
  const expiresAt = floorToSecond(issuing.now) + serviceMs;
  return { ...made, pair: { ...made.pair, accessExpiresAt: expiresAt, refreshExpiresAt: expiresAt } };
}
