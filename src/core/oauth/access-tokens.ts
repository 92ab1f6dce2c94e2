import { createHash } from "node:crypto";
import { type CryptoKey, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { AccessClaims, AccessFacts, ReadAccessToken } from "./access-token.ts";
import { isScope } from "./scope.ts";
import { algorithm, type SigningKeys } from "./signing-keys.ts";

const type = "at+jwt";
const textMax = 8192;
/** What was verified once is not verified again: so many tokens are remembered, by their digest. */
const rememberedMax = 10_000;

/** Signs access tokens (RFC 9068). @param issuer the installation's base URL, its audience too. */
export async function signAccessToken(keys: SigningKeys, issuer: string, facts: AccessFacts): Promise<string> {
  const { kid, key } = await keys.signing();
  return new SignJWT(payloadOf(facts))
    .setProtectedHeader({ typ: type, alg: algorithm, kid })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject(facts.accountId)
    .setJti(facts.accessId)
    .setIssuedAt(facts.issuedAt / 1000)
    .setExpirationTime(facts.expiresAt / 1000)
    .sign(key);
}

const payloadOf = ({ clientId, scopes, teamId, familyId, generation }: AccessFacts): JWTPayload => ({
  client_id: clientId,
  scope: scopes.join(" "),
  team: teamId,
  fam: familyId,
  gen: generation,
});

const required = ["iss", "aud", "exp", "iat", "sub", "jti", "client_id", "scope", "fam", "gen"];

/** Reads what `signAccessToken` signs, of any node of this installation (RFC 9068 4). */
export function accessTokenReader(keys: SigningKeys, issuer: string): ReadAccessToken {
  const remembered = new Map<string, AccessClaims>();

  async function keyFor({ kid }: JWTHeaderParameters): Promise<CryptoKey> {
    const key = typeof kid === "string" ? await keys.verifying(kid) : null;
    if (key === null) throw new errors.JWKSNoMatchingKey();
    return key;
  }

  async function verified(text: string): Promise<AccessClaims | null> {
    try {
      const rules = { typ: type, algorithms: [algorithm], issuer, audience: issuer, requiredClaims: required };
      // Expiry is the caller's to judge, by its own clock.
      const { payload } = await jwtVerify(text, keyFor, { ...rules, currentDate: new Date(0) });
      return claimsOf(payload);
    } catch (thrown) {
      if (thrown instanceof errors.JOSEError) return null;
      throw thrown;
    }
  }

  return async (text) => {
    if (text.length > textMax) return null;
    const digest = createHash("sha256").update(text).digest("base64url");
    const known = remembered.get(digest) ?? (await verified(text));
    if (known === null) return null;
    remembered.delete(digest);
    remembered.set(digest, known);
    const [oldest] = remembered.size > rememberedMax ? remembered.keys() : [];
    if (oldest !== undefined) remembered.delete(oldest);
    return known;
  };
}

/** The signature has held, so that the claims are what was written above. */
function claimsOf(payload: JWTPayload): AccessClaims {
  return {
    familyId: String(payload["fam"]),
    clientId: String(payload["client_id"]),
    accountId: String(payload.sub),
    accessId: String(payload.jti),
    generation: Number(payload["gen"]),
    scopes: String(payload["scope"]).split(" ").filter(isScope),
    issuedAt: Number(payload.iat) * 1000,
    expiresAt: Number(payload.exp) * 1000,
  };
}
