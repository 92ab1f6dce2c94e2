import type { OAuthApp } from "../../core/oauth/app.ts";
import { type AuthorizationRequest, errorRedirect } from "../../core/oauth/authorization.ts";
import { redirectUriFor } from "../../core/oauth/redirect-uri.ts";
import { scopesIn } from "../../core/oauth/scope.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import { rules } from "./rules.ts";

/** What is to be done with an authorization request, before anybody is asked to sign in (contract/decisions.md 27). */
export type Authorization =
  /** A page with 400, and no redirect: nobody knows where to. */
  | { readonly kind: "page"; readonly reason: "client" | "redirect_uri" }
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "ask"; readonly request: AuthorizationRequest };

/** Reads `GET {consent_url}/openapi/oauth`. A deleted app is as unknown as any (contract/oauth.md 4). */
export async function readAuthorization(
  query: URLSearchParams,
  findApp: (clientId: string) => Promise<OAuthApp | null>,
  issuer: string,
): Promise<Authorization> {
  const parameters = readParameters(query);
  const clientId = parameters.get("client_id");
  return authorizationOf(parameters, clientId === null ? null : await findApp(clientId), issuer);
}

/** @param app the one that `client_id` names; null where there is none. */
export function authorizationOf(parameters: Parameters, app: OAuthApp | null, issuer: string): Authorization {
  if (app === null) return { kind: "page", reason: "client" };
  const redirectUri = parameters.repeated === "redirect_uri" ? null : redirectUriFor(app, parameters.get("redirect_uri"));
  if (redirectUri === null) return { kind: "page", reason: "redirect_uri" };
  const to = { redirectUri, state: parameters.get("state"), issuer };
  const broken = rules.find((rule) => rule.broken(parameters, app));
  if (broken) return { kind: "redirect", location: errorRedirect(to, broken.error, broken.description) };
  return { kind: "ask", request: requestOf(parameters, app, to) };
}

function requestOf(
  parameters: Parameters,
  app: OAuthApp,
  to: Pick<AuthorizationRequest, "redirectUri" | "state" | "issuer">,
): AuthorizationRequest {
  const asked = parameters.get("scope");
  const prompts = parameters.get("prompt")?.split(" ") ?? [];
  return {
    ...to,
    app,
    scopes: (asked === null ? null : scopesIn(asked, app.scopes)) ?? app.scopes,
    challenge: parameters.get("code_challenge"),
    prompt: prompts.includes("consent") ? "consent" : null,
  };
}
