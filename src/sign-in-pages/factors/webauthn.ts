import { isIP } from "node:net";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import { z } from "zod";
import type { Passkey } from "../../core/sign-in/factor.ts";

/** How long a browser may take to answer a challenge. */
export const challengeMs = 5 * 60_000;

/** The site that passkeys are for, as configured: never from a header. */
export interface RelyingParty {
  /** The host of CONSENT_URL (Web Authentication 5.1.2). */
  readonly id: string;
  readonly origin: string;
}

/** Null where browsers have no passkeys: without https, except on `localhost`, and at an IP address. */
export function relyingParty(consentUrl: string): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(consentUrl);
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
  return isAddress || (protocol !== "https:" && hostname !== "localhost") ? null : { id: hostname, origin };
}

const text = z.string().max(8_192);
const base64url = text.regex(/^[A-Za-z0-9_-]+$/);
/** What both kinds of answers have. Members that are not named here are dropped. */
const credential = { id: base64url.max(1_400), rawId: base64url.max(1_400), type: z.literal("public-key") };
const registration = z.object({
  ...credential,
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
});
const assertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.max(128),
  }),
});
/** An answer to a challenge: its passkey is known by `id`. */
export type Assertion = z.infer<typeof assertion>;

/** The answer of a browser that signs in; null for any other text. */
export const readAssertion = (sent: string): Assertion | null => readJson(assertion, sent);

function readJson<T>(schema: z.ZodType<T>, sent: string): T | null {
  try {
    return schema.parse(JSON.parse(sent));
  } catch {
    return null;
  }
}

/** The request to the browser for a new passkey. */
export async function creationOptions(
  party: RelyingParty,
  person: { readonly email: string; readonly userHandle: string; readonly known: readonly Passkey[] },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await import("@simplewebauthn/server");
  return generateRegistrationOptions({
    rpName: "Agent Task Platform",
    rpID: party.id,
    userID: Uint8Array.from(Buffer.from(person.userHandle, "base64url")),
    userName: person.email,
    userDisplayName: person.email,
    timeout: challengeMs,
    attestationType: "none",
    excludeCredentials: person.known.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

/**
 * The request to the browser for the use of a passkey. @param known only these passkeys; none: any that the
 * device has
 */
export async function requestOptions(
  party: RelyingParty,
  known: readonly Passkey[],
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
  return generateAuthenticationOptions({
    rpID: party.id,
    timeout: challengeMs,
    userVerification: "required",
    allowCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
  });
}

/** Verifies a new passkey (Web Authentication 7.1). Null when anything is wrong. */
export async function verifyCreation(
  party: RelyingParty,
  challenge: string,
  sent: string,
): Promise<Pick<Passkey, "credentialId" | "publicKey" | "counter"> | null> {
  const response = readJson(registration, sent);
  if (response === null) return null;
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...response, clientExtensionResults: {} },
      ...expected(party, challenge),
    });
    if (!registrationInfo) return null;
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey).toString("base64url"), counter };
  } catch {
    return null;
  }
}

/**
 * Verifies the use of a passkey (Web Authentication 7.2). Returns the new signature counter; null when
 * anything is wrong.
 */
export async function verifyUse(
  party: RelyingParty,
  challenge: string,
  sent: Assertion,
  passkey: Passkey,
): Promise<number | null> {
  if (sent.response.userHandle !== passkey.userHandle) return null;
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...sent, clientExtensionResults: {} },
      ...expected(party, challenge),
      credential: {
        id: passkey.credentialId,
        publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, "base64url")),
        counter: passkey.counter,
      },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}

const expected = ({ id, origin }: RelyingParty, expectedChallenge: string) => ({
  expectedChallenge,
  expectedOrigin: origin,
  expectedRPID: id,
  requireUserVerification: true,
});
