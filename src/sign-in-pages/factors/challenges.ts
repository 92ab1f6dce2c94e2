import type { FastifyReply, FastifyRequest } from "fastify";
import { openExpiring, sealExpiring } from "../../core/cipher.ts";
import type { Passkey } from "../../core/sign-in/factor.ts";
import { ticketDigest } from "../../core/sign-in/second-step.ts";
import type { Tx } from "../../core/store.ts";
import { type ConsoleParts, requestOrigin } from "../parts.ts";
import { challengeMs, type RelyingParty, readAssertion, verifyUse } from "./webauthn.ts";

/** What a challenge is for. One that was made for one purpose, or one session, serves no other. */
export interface Purpose {
  readonly of: "sign in" | "prove" | "add";
  /** The session of the person; null for a sign-in. */
  readonly sessionId: string | null;
}

/** A challenge that waits for its answer, in a sealed cookie: the store keeps only used ones. */
export interface Challenge {
  readonly text: string;
  /** The user handle of the passkey that is being made; empty when one is used. */
  readonly userHandle: string;
  readonly expiresAt: number;
}

const contextOf = ({ of, sessionId }: Purpose): string => `passkey ${of} ${sessionId ?? ""}`;

export function keepChallenge(
  { visits, cipher, clock }: ConsoleParts,
  reply: FastifyReply,
  purpose: Purpose,
  { text, userHandle = "" }: { readonly text: string; readonly userHandle?: string },
): void {
  const challenge: Challenge = { text, userHandle, expiresAt: clock.now() + challengeMs };
  visits.setCookie(
    reply,
    "passkey",
    sealExpiring(cipher, clock, contextOf(purpose), challenge, challengeMs),
    challengeMs,
  );
}

/** The challenge of this browser, which is taken from it; null when there is none for the purpose. */
export function takeChallenge(
  { visits, cipher, clock }: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  purpose: Purpose,
): Challenge | null {
  const sealed = visits.cookie(request, "passkey") ?? "";
  visits.setCookie(reply, "passkey", null);
  return openExpiring<Challenge>(cipher, clock, contextOf(purpose), sealed);
}

/** Marks a challenge as answered; false when it was: a copy of its cookie is worth nothing. */
export const spendChallenge = (tx: Pick<Tx, "factors">, { text, expiresAt }: Challenge): Promise<boolean> =>
  tx.factors.spend(ticketDigest(text), expiresAt);

/** A passkey whose use was verified, and the record of that use. */
export interface ProvenPasskey {
  readonly passkey: Passkey;
  /** Belongs into the change that relies on the use. False when another request was faster. */
  record(tx: Pick<Tx, "factors">): Promise<boolean>;
}

/**
 * Verifies that the person has used a passkey. Attempts count as those with a password. Null for every
 * reason: callers cannot find out which passkeys exist.
 *
 * @throws Failure `rate_limited`
 */
export async function provePasskey(
  parts: ConsoleParts,
  party: RelyingParty,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  purpose: Purpose,
  sent: string,
): Promise<ProvenPasskey | null> {
  const { store, clock } = parts;
  const challenge = takeChallenge(parts, request, reply, purpose);
  const assertion = readAssertion(sent);
  await parts.countAttempt(`passkey ${assertion?.id ?? ""}`, requestOrigin(parts, request).address);
  const passkey = assertion && (await store.factors.findPasskey(assertion.id));
  if (!challenge || !assertion || !passkey) return null;
  const counter = await verifyUse(party, challenge.text, assertion, passkey);
  if (counter === null) return null;
  const now = clock.now();
  return {
    passkey,
    record: async (tx) =>
      (await spendChallenge(tx, challenge)) && (await tx.factors.recordPasskeyUse(passkey.id, counter, now)),
  };
}
