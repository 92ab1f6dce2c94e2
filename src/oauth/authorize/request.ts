import { parseScopes, scopeFault } from "../../core/accounts/caller.ts";
import { defaultScopes, type OAuthApp } from "../../core/oauth/app.ts";
import {
  type AuthorizationError,
  type AuthorizationRequest,
  errorLocation,
  selectRedirectUri,
} from "../../core/oauth/authorization.ts";
import { isChallenge } from "../../core/oauth/code.ts";
import { resourceOf } from "../../core/oauth/resource.ts";

/** The known parameters of an authorization request; unknown ones are ignored (RFC 6749 3.1). */
const names = [
  ...(["client_id", "redirect_uri", "response_type", "scope", "state"] as const),
  ...(["code_challenge", "code_challenge_method", "prompt", "resource"] as const),
] as const;
export type ParameterName = (typeof names)[number];

interface Parameters {
  /** Returns null if the parameter is absent, empty or repeated. */
  get(name: ParameterName): string | null;
  /** The first repeated parameter; null if none is repeated. */
  readonly repeated: ParameterName | null;
}

/** Reads a query. An empty value counts as omitted (RFC 6749 3.1). */
function readParameters(query: URLSearchParams): Parameters {
  const repeats = (name: ParameterName) => query.getAll(name).length > 1;
  return {
    get: (name) => (repeats(name) ? null : query.get(name) || null),
    repeated: names.find(repeats) ?? null,
  };
}

/** One rule of the authorization request; a violation is reported to the app. */
interface Rule {
  readonly error: AuthorizationError;
  readonly description: string | ((parameters: Parameters) => string);
  isViolated(parameters: Parameters, app: OAuthApp, issuer: string): boolean;
}

/** In the order in which they are reported (spec/oauth.md 4). */
const rules: readonly Rule[] = [
  {
    // RFC 6749 3.1
    error: "invalid_request",
    description: "a parameter is repeated",
    isViolated: ({ repeated }) => repeated !== null,
  },
  {
    // RFC 6749 3.1.1, 4.1.2.1; absent means code (spec/oauth.md 4)
    error: "unsupported_response_type",
    description: "response_type must be code",
    isViolated: (parameters) => (parameters.get("response_type") ?? "code") !== "code",
  },
  {
    // The command line has no secret: only the verifier proves who began (RFC 8252 8.1).
    error: "invalid_request",
    description: "code_challenge is missing: this client requires PKCE",
    isViolated: (parameters, { spaceId }) => spaceId === null && parameters.get("code_challenge") === null,
  },
  {
    // RFC 7636 4.3: without a method it would be plain
    error: "invalid_request",
    description: "code_challenge_method must be S256",
    isViolated: (parameters) =>
      parameters.get("code_challenge") !== null && parameters.get("code_challenge_method") !== "S256",
  },
  {
    // RFC 7636 4.2
    error: "invalid_request",
    description: "code_challenge must be a SHA-256 in base64url, 43 characters",
    isViolated: (parameters) => !isChallenge(parameters.get("code_challenge") ?? "A".repeat(43)),
  },
  {
    // RFC 7636 4.3: a downgrade must be detected (RFC 9700 4.8)
    error: "invalid_request",
    description: "code_challenge_method requires code_challenge",
    isViolated: (parameters) =>
      parameters.get("code_challenge") === null && parameters.get("code_challenge_method") !== null,
  },
  {
    // RFC 6749 3.3, 4.1.2.1
    error: "invalid_scope",
    description: (parameters) => scopeFault(parameters.get("scope") ?? ""),
    isViolated(parameters, { scopes }) {
      const requested = parameters.get("scope");
      return requested !== null && parseScopes(requested, scopes) === null;
    },
  },
  {
    // RFC 8707 2
    error: "invalid_target",
    description: "resource is not one that the app can have tokens for",
    isViolated: (parameters, app, issuer) =>
      resourceOf(app, parameters.get("resource"), issuer) === undefined,
  },
];

/** The next step of an authorization request, decided before the user signs in (spec/decisions.md 27). */
export type Authorization =
  /** A page with 400 and no redirect: there is no valid redirect URI. */
  | { readonly kind: "page"; readonly reason: "client" | "redirect_uri" }
  /**
   * A page with 400 and no redirect: the client is not checked, so its address gets no visitor from here (RFC
   * 9700 4.11.2).
   */
  | { readonly kind: "refused"; readonly redirectUri: string; readonly description: string }
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "ask"; readonly request: AuthorizationRequest };

/**
 * Reads `GET {consent_url}/openapi/oauth`. A deleted app gets the answer of an unknown one (spec/oauth.md 4).
 */
export async function readAuthorization(
  query: URLSearchParams,
  findApp: (clientId: string) => Promise<OAuthApp | null>,
  issuer: string,
): Promise<Authorization> {
  const parameters = readParameters(query);
  const clientId = parameters.get("client_id");
  return checkAuthorization(parameters, clientId === null ? null : await findApp(clientId), issuer);
}

/** @param app the app of `client_id`; null if there is none. */
export function checkAuthorization(
  parameters: Parameters,
  app: OAuthApp | null,
  issuer: string,
): Authorization {
  if (app === null) return { kind: "page", reason: "client" };
  const redirectUri =
    parameters.repeated === "redirect_uri" ? null : selectRedirectUri(app, parameters.get("redirect_uri"));
  if (redirectUri === null) return { kind: "page", reason: "redirect_uri" };
  const to = { redirectUri, state: parameters.get("state"), issuer };
  const violated = rules.find((rule) => rule.isViolated(parameters, app, issuer));
  if (violated) {
    const description =
      typeof violated.description === "string" ? violated.description : violated.description(parameters);
    if (!app.verified) return { kind: "refused", redirectUri, description };
    return { kind: "redirect", location: errorLocation(to, violated.error, description) };
  }
  return { kind: "ask", request: toRequest(parameters, app, to) };
}

function toRequest(
  parameters: Parameters,
  app: OAuthApp,
  to: Pick<AuthorizationRequest, "redirectUri" | "state" | "issuer">,
): AuthorizationRequest {
  const requested = parameters.get("scope");
  const prompts = parameters.get("prompt")?.split(" ") ?? [];
  return {
    ...to,
    app,
    scopes: (requested === null ? null : parseScopes(requested, app.scopes)) ?? defaultScopes(app),
    challenge: parameters.get("code_challenge"),
    resource: resourceOf(app, parameters.get("resource"), to.issuer) ?? null,
    prompt: prompts.includes("consent") ? "consent" : null,
  };
}
