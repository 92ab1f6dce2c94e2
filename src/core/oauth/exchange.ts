import type { Tx } from "../store.ts";
import type { ProvenClient } from "./client.ts";
import { codeDigest, type IssuedCode } from "./code.ts";
import type { TokenFamily } from "./family.ts";
import { auditFamily, type Issued, type Issuing, issuedOf, newPair } from "./issue.ts";
import { challengeOf } from "./pkce.ts";
import { invalidGrant, type Refused, refused, secretNeeded } from "./refusal.ts";
import { type Standing, stands } from "./standing.ts";

/** The authorization_code grant as it was asked for (contract/oauth.md 5.2). */
export interface Exchange extends ProvenClient {
  readonly code: string;
  readonly redirectUri: string;
  /** Well-formed; null where none was sent. */
  readonly verifier: string | null;
}

/** Two exchanges of one code so close are a client's own, when they show the same (contract/oauth.md 13). */
const raceMs = 2_000;

/** Gives a token family for a code, once (contract/oauth.md 5.2, 5.4; RFC 6749 4.1.2, 4.1.3). */
export async function exchange(tx: Tx, issuing: Issuing, asked: Exchange): Promise<Issued | Refused> {
  const code = await tx.codes.find(codeDigest(asked.code));
  if (code === null) return invalidGrant;
  if (lacksSecret(code, asked)) return secretNeeded;
  if (code.usedAt !== null) return usedAgain(tx, issuing, asked, code);
  const fault = faultOf(code, asked, issuing.now);
  if (fault !== null) return fault;
  const standing = await tx.grants.standing(code.grantId);
  if (standing === null || asked.client.deleted || !stands(standing, code.generation)) return invalidGrant;
  return useUp(tx, issuing, asked, code, standing);
}

/** Without a challenge a secret is what proves the client; an app may say that it always is (contract/decisions.md 25). */
const lacksSecret = ({ challenge }: IssuedCode, { client, bySecret }: Exchange): boolean =>
  !bySecret && (challenge === null || client.confidentialOnly);

function faultOf(code: IssuedCode, asked: Exchange, now: number): Refused | null {
  if (code.clientId !== asked.client.clientId || code.expiresAt <= now) return invalidGrant;
  if (code.challenge !== null && asked.verifier === null) return refused("invalid_request", "code_verifier is missing");
  if (code.challenge === null && asked.verifier !== null)
    return refused("invalid_request", "code_verifier stands without a code_challenge");
  if (!showsTheSame(code, asked) || code.redirectUri !== asked.redirectUri) return invalidGrant;
  return null;
}

const showsTheSame = ({ clientId, challenge }: IssuedCode, { client, verifier }: Exchange): boolean =>
  clientId === client.clientId && challenge === (verifier === null ? null : challengeOf(verifier));

async function useUp(tx: Tx, issuing: Issuing, asked: Exchange, code: IssuedCode, standing: Standing): Promise<Issued | Refused> {
  const family = familyOf(issuing, asked, code);
  if (!(await tx.codes.use(code.digest, family.id, issuing.now))) {
    const used = await tx.codes.find(code.digest);
    return used === null ? invalidGrant : usedAgain(tx, issuing, asked, used);
  }
  const made = newPair(issuing, family.id, family.clientId);
  await tx.families.insert({ ...family, ...made.pair });
  await auditFamily(tx, issuing, "oauth/token", family, "token_issued");
  const scopes = family.scopes.filter((name) => standing.scopes.includes(name));
  return issuedOf(issuing, family, made, scopes, standing);
}

/** The family that a code gives: what it will need follows from what was shown (contract/oauth.md 5.4). */
function familyOf(
  { now, ids }: Issuing,
  { bySecret }: Exchange,
  code: IssuedCode,
): Omit<TokenFamily, keyof ReturnType<typeof newPair>["pair"]> {
  const { clientId, grantId, accountId, spaceId, scopes, generation, challenge } = code;
  return { id: ids.short(), clientId, grantId, accountId, spaceId, scopes, generation, challenge, needsSecret: bySecret, createdAt: now };
}

/** A code that was used already gives nothing, and takes back what it gave, unless its own client was only too quick. */
async function usedAgain(tx: Tx, issuing: Issuing, asked: Exchange, code: IssuedCode): Promise<Refused> {
  const { familyId, usedAt } = code;
  if (familyId === null || usedAt === null) return invalidGrant;
  const raced = showsTheSame(code, asked) && Math.abs(issuing.now - usedAt) <= raceMs;
  if (!raced) await tx.families.revoke(familyId, issuing.now);
  await auditFamily(tx, issuing, "oauth/token", { ...code, id: familyId }, raced ? "code_raced" : "code_replayed");
  return invalidGrant;
}
