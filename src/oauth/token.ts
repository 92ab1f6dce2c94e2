import { type AccessFacts, accessMs } from "../core/oauth/access-token.ts";
import { signAccessToken } from "../core/oauth/access-tokens.ts";
import type { ProvenClient } from "../core/oauth/client.ts";
import { codeDigest } from "../core/oauth/code.ts";
import { exchange } from "../core/oauth/exchange.ts";
import type { Issued, Issuing } from "../core/oauth/issue.ts";
import { isVerifier } from "../core/oauth/pkce.ts";
import { refresh } from "../core/oauth/refresh.ts";
import { type Refused, refused } from "../core/oauth/refusal.ts";
import type { Tx } from "../core/store.ts";
import { type Endpoint, endpoint, type OAuthParts, type Posted } from "./endpoint.ts";
import { invalidRequest, OAuthFailure } from "./failure.ts";
import type { Form } from "./form.ts";

type Change = (tx: Tx, issuing: Issuing) => Promise<Issued | Refused>;

/** `POST /oauth/token` (contract/oauth.md 5). */
export function tokenEndpoint(parts: OAuthParts): Endpoint {
  const { store, ids, keys, refreshTokens, issuer } = parts;
  return endpoint(parts, {
    name: "token",
    async proves(clientId, form) {
      const code = form.get("code");
      if (code !== undefined) return (await store.codes.find(codeDigest(code)))?.clientId === clientId;
      return refreshTokens.familyOf(form.get("refresh_token") ?? "", clientId) !== null;
    },
    async answer(client, { form, now, requestId, address }) {
      const change = changeFor(client, form);
      // Had there to be a key made first, it is not while the change is open, nor after it.
      await keys.signing();
      const result = await store.change((tx) => change(tx, { now, ids, refreshTokens, requestId, address }));
      if ("refused" in result) throw new OAuthFailure(result);
      return bodyOf(await signAccessToken(keys, issuer, result.access), result.refreshToken, result.access);
    },
  });
}

/** All five members, in both grants (contract/oauth.md 5.5). */
const bodyOf = (accessToken: string, refreshToken: string, { scopes }: AccessFacts) => ({
  access_token: accessToken,
  token_type: "Bearer",
  expires_in: accessMs / 1000,
  refresh_token: refreshToken,
  scope: scopes.join(" "),
});

/** @throws OAuthFailure `invalid_request` for a missing or malformed parameter, `unsupported_grant_type` */
function changeFor(client: ProvenClient, form: Posted["form"]): Change {
  const verifier = verifierIn(form);
  switch (needed(form, "grant_type")) {
    case "authorization_code": {
      const asked = { ...client, code: needed(form, "code"), redirectUri: needed(form, "redirect_uri"), verifier };
      return (tx, issuing) => exchange(tx, issuing, asked);
    }
    case "refresh_token": {
      const asked = { ...client, refreshToken: needed(form, "refresh_token"), verifier, scope: form.get("scope") ?? null };
      return (tx, issuing) => refresh(tx, issuing, asked);
    }
    default:
      throw new OAuthFailure(refused("unsupported_grant_type", "grant_type must be authorization_code or refresh_token"));
  }
}

/** A parameter that must be there. @throws OAuthFailure `invalid_request` */
export function needed(form: Form, name: "grant_type" | "code" | "redirect_uri" | "refresh_token" | "token"): string {
  const value = form.get(name);
  if (value === undefined) throw invalidRequest(`${name} is missing`);
  return value;
}

function verifierIn(form: Form): string | null {
  const verifier = form.get("code_verifier") ?? null;
  if (verifier !== null && !isVerifier(verifier)) throw invalidRequest("code_verifier must be 43 to 128 unreserved characters");
  return verifier;
}
