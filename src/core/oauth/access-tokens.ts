import { createHash } from "node:crypto";
import type { CryptoKey, JWTHeaderParameters, JWTPayload } from "jose";
import { lazyPackage } from "../../async/lazy.ts";
import { isScope } from "../accounts/caller.ts";
import type { AccessClaims, AccessTokenContent, ReadAccessToken } from "./access-token.ts";
import { mcpResource } from "./resource.ts";
import { algorithm, type SigningKeys } from "./signing-key.ts";

const jose = lazyPackage<typeof import("jose")>("jose");
const type = "at+jwt";
const textMax = 8192;
/** A verified token is not verified a second time: up to this many are remembered, by their digest. */
const rememberedMax = 10_000;

/**
 * Signs an access token (RFC 9068). @param issuer the installation's base URL, also the audience of a token
 * for the API.
 */
export async function signAccessToken(
  keys: SigningKeys,
  issuer: string,
  facts: AccessTokenContent,
): Promise<string> {
  const { kid, key } = await keys.current();
  return new (jose().SignJWT)(toPayload(facts))
    .setProtectedHeader({ typ: type, alg: algorithm, kid })
    .setIssuer(issuer)
    .setAudience(facts.resource ?? issuer)
    .setSubject(facts.accountId)
    .setJti(facts.accessId)
    .setIssuedAt(facts.issuedAt / 1000)
    .setExpirationTime(facts.expiresAt / 1000)
    .sign(key);
}

const toPayload = ({ clientId, scopes, teamId, familyId, generation }: AccessTokenContent): JWTPayload => ({
  client_id: clientId,
  scope: scopes.join(" "),
  team: teamId,
  fam: familyId,
  gen: generation,
});

const required = ["iss", "aud", "exp", "iat", "sub", "jti", "client_id", "scope", "fam", "gen"];

/** Reads access tokens that any node of this installation has signed (RFC 9068 4). */
export function createAccessTokenReader(keys: SigningKeys, issuer: string): ReadAccessToken {
  const remembered = new Map<string, AccessClaims>();

  async function keyFor({ kid }: JWTHeaderParameters): Promise<CryptoKey> {
    const key = typeof kid === "string" ? await keys.publicKey(kid) : null;
    if (key === null) throw new (jose().errors.JWKSNoMatchingKey)();
    return key;
  }

  async function verify(text: string): Promise<AccessClaims | null> {
    try {
      const rules = {
        typ: type,
        algorithms: [algorithm],
        issuer,
        audience: [issuer, mcpResource(issuer)],
        requiredClaims: required,
      };
      // The caller checks expiry, by its own clock.
      const { payload } = await jose().jwtVerify(text, keyFor, { ...rules, currentDate: new Date(0) });
      return toClaims(payload, issuer);
    } catch (thrown) {
      if (thrown instanceof jose().errors.JOSEError) return null;
      throw thrown;
    }
  }

  return async (text) => {
    if (text.length > textMax) return null;
    const digest = createHash("sha256").update(text).digest("base64url");
    const known = remembered.get(digest) ?? (await verify(text));
    if (known === null) return null;
    remembered.delete(digest);
    remembered.set(digest, known);
    const [oldest] = remembered.size > rememberedMax ? remembered.keys() : [];
    if (oldest !== undefined) remembered.delete(oldest);
    return known;
  };
}

/**
 * The client that a token names. Nothing of the token is verified, so this must grant nothing: it decides
 * only which page can read the answer, and a forged token gets a refusal. Undefined for a text that is not a
 * token.
 */
export function readNamedClient(text: string): string | undefined {
  if (text.length > textMax) return undefined;
  try {
    const { client_id: clientId } = jose().decodeJwt(text);
    return typeof clientId === "string" ? clientId : undefined;
  } catch {
    return undefined;
  }
}

/** The signature was verified, so the claims have the form that `signAccessToken` writes. */
function toClaims(payload: JWTPayload, issuer: string): AccessClaims {
  return {
    familyId: String(payload["fam"]),
    clientId: String(payload["client_id"]),
    accountId: String(payload.sub),
    accessId: String(payload.jti),
    generation: Number(payload["gen"]),
    scopes: String(payload["scope"]).split(" ").filter(isScope),
    issuedAt: Number(payload.iat) * 1000,
    expiresAt: Number(payload.exp) * 1000,
    resource: payload.aud === issuer ? null : String(payload.aud),
  };
}
