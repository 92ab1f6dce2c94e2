import { accessMs } from "../core/oauth/access-token.ts";
import { signAccessToken } from "../core/oauth/access-tokens.ts";
import type { AuthenticatedClient } from "../core/oauth/app.ts";
import { codeDigest, exchange, isVerifier } from "../core/oauth/code.ts";
import { exchangeDevice } from "../core/oauth/device-exchange.ts";
import { refreshDigest } from "../core/oauth/family.ts";
import type { IssueContext, IssuedTokens } from "../core/oauth/issue.ts";
import { type ActiveToken, introspect, revokeToken } from "../core/oauth/presented-token.ts";
import { refresh } from "../core/oauth/refresh.ts";
import { invalidTarget, type OAuthRefusal, oauthRefusal } from "../core/oauth/refusal.ts";
import { parseResource, type Resource } from "../core/oauth/resource.ts";
import { issueServiceToken, serviceMs } from "../core/oauth/service.ts";
import type { Tx } from "../core/store.ts";
import {
  type Endpoint,
  endpoint,
  type Form,
  identifyToken,
  type OAuthParts,
  type PostedForm,
} from "./endpoint.ts";
import { invalidClient, invalidRequest, OAuthFailure } from "./failure.ts";
import { deviceGrantType, grantTypes } from "./metadata.ts";

type Change = (tx: Tx, issuing: IssueContext) => Promise<IssuedTokens | OAuthRefusal>;

/** `POST /oauth/token` (spec/oauth.md 5). */
export function tokenEndpoint(parts: OAuthParts): Endpoint {
  const { store, ids, keys, refreshTokens, issuer } = parts;
  return endpoint(parts, {
    name: "token",
    async hasIssuedToken(clientId, form) {
      const code = form.get("code");
      if (code !== undefined) return (await store.codes.find(codeDigest(code)))?.clientId === clientId;
      return refreshTokens.familyOf(form.get("refresh_token") ?? "", clientId) !== null;
    },
    async answer(client, { form, now, requestId, address }) {
      const change = readGrant(client, form, issuer);
      // Creates a missing signing key now, not during the change or after its commit.
      await keys.current();
      const result = await store.change((tx) => change(tx, { now, ids, refreshTokens, requestId, address }));
      if ("refused" in result) throw new OAuthFailure(result);
      return tokenBody(
        await signAccessToken(keys, issuer, result.access),
        result,
        form.get("grant_type") === "client_credentials",
      );
    },
  });
}

/**
 * All five members, in all grants but client_credentials, which has no refresh token (spec/oauth.md 5.5, RFC
 * 6749 4.4.3).
 */
const tokenBody = (accessToken: string, { access, refreshToken }: IssuedTokens, isService: boolean) => ({
  access_token: accessToken,
  token_type: "Bearer",
  expires_in: (isService ? serviceMs : accessMs) / 1000,
  ...(!isService && { refresh_token: refreshToken }),
  scope: access.scopes.join(" "),
});

/**
 * @throws OAuthFailure `invalid_request` for a missing or malformed parameter, `invalid_target`,
 * `unsupported_grant_type`
 */
function readGrant(client: AuthenticatedClient, form: PostedForm["form"], issuer: string): Change {
  const proof = { ...client, verifier: readVerifier(form), resource: readResource(form, issuer) };
  switch (requireParameter(form, "grant_type")) {
    case "authorization_code": {
      const request = {
        ...proof,
        code: requireParameter(form, "code"),
        redirectUri: requireParameter(form, "redirect_uri"),
      };
      return (tx, issuing) => exchange(tx, issuing, request);
    }
    case "refresh_token": {
      const request = {
        ...proof,
        refreshToken: requireParameter(form, "refresh_token"),
        scope: form.get("scope") ?? null,
      };
      return (tx, issuing) => refresh(tx, issuing, request);
    }
    case "client_credentials": {
      const request = { ...proof, scope: form.get("scope") ?? null };
      return (tx, issuing) => issueServiceToken(tx, issuing, request);
    }
    case deviceGrantType: {
      const request = { ...proof, deviceCode: requireParameter(form, "device_code") };
      return (tx, issuing) => exchangeDevice(tx, issuing, request);
    }
    default:
      throw new OAuthFailure(
        oauthRefusal("unsupported_grant_type", `grant_type must be one of ${grantTypes.join(", ")}`),
      );
  }
}

/** Reads a required parameter. @throws OAuthFailure `invalid_request` */
function requireParameter(
  form: Form,
  name: "grant_type" | "code" | "redirect_uri" | "refresh_token" | "device_code" | "token",
): string {
  const value = form.get(name);
  if (value === undefined) throw invalidRequest(`${name} is missing`);
  return value;
}

function readVerifier(form: Form): string | null {
  const verifier = form.get("code_verifier") ?? null;
  if (verifier !== null && !isVerifier(verifier))
    throw invalidRequest("code_verifier must be 43 to 128 unreserved characters");
  return verifier;
}

/**
 * Undefined for a request without `resource`. @throws OAuthFailure `invalid_target` for an unknown one (RFC
 * 8707 2.2).
 */
function readResource(form: Form, issuer: string): Resource | undefined {
  const text = form.get("resource");
  const resource = text === undefined ? undefined : parseResource(text, issuer);
  if (text !== undefined && resource === undefined) throw new OAuthFailure(invalidTarget);
  return resource;
}

/** `POST /oauth/introspect` (RFC 7662): clients with a secret introspect their own tokens. */
export function introspectEndpoint(parts: OAuthParts): Endpoint {
  return endpoint(parts, {
    name: "introspect",
    // Without a secret, any caller could test tokens (spec/oauth.md 12).
    hasIssuedToken: async () => false,
    async answer({ client, bySecret }, { form, now }) {
      if (!bySecret) throw invalidClient();
      const token = requireParameter(form, "token");
      const presented = await identifyToken(parts, client.clientId, token);
      const active = await introspect(parts.store, now, client, presented, refreshDigest(token));
      return active === null ? { active: false } : activeBody(active, client.clientId, parts.issuer);
    },
  });
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** Only an access token has a type and an ID (RFC 7662 2.2). */
function activeBody(active: ActiveToken, clientId: string, issuer: string): object {
  const { kind, accountId, scopes, accessId, issuedAt, expiresAt, resource } = active;
  const common = {
    active: true,
    client_id: clientId,
    sub: accountId,
    iss: issuer,
    scope: scopes.join(" "),
    exp: seconds(expiresAt),
  };
  if (kind === "refresh" || accessId === null || issuedAt === null) return common;
  return {
    ...common,
    token_type: "Bearer",
    aud: resource ?? issuer,
    jti: accessId,
    iat: seconds(issuedAt),
    nbf: seconds(issuedAt),
  };
}

/**
 * `POST /oauth/revoke` (spec/oauth.md 6, RFC 7009): 200 for an authenticated client and any token. The hint
 * is ignored.
 */
export function revokeEndpoint(parts: OAuthParts): Endpoint {
  const { store, ids } = parts;
  return endpoint(parts, {
    name: "revoke",
    async hasIssuedToken(clientId, form) {
      const { refreshFamilyId, access } = await identifyToken(parts, clientId, form.get("token") ?? "");
      return refreshFamilyId !== null || access !== null;
    },
    async answer(client, { form, now, requestId, address }) {
      const presented = await identifyToken(parts, client.client.clientId, requireParameter(form, "token"));
      const result = await store.change((tx) =>
        revokeToken(tx, { now, ids, requestId, address }, client, presented),
      );
      if (result !== null) throw new OAuthFailure(result);
      return {};
    },
  });
}
