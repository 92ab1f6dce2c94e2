import { createHash, createHmac, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import type { SigningKeys } from "./keys.ts";

/** The signed parts of a request: its bytes and its address. */
export interface Signable {
  readonly eventId: string;
  /** Exactly as registered, byte for byte. */
  readonly url: string;
  readonly body: Uint8Array;
  /** Unix seconds, of this attempt. */
  readonly at: number;
}

/** The keys and secrets for one receiver. */
export interface Signer {
  readonly keys: SigningKeys;
  /** The webhook's secrets of Standard Webhooks: two while the old one is still valid. */
  readonly secrets: readonly Uint8Array[];
  /** For receivers built from the old samples, which hash twice (spec/webhooks.md 5.2). */
  readonly doubleHash: boolean;
}

/**
 * The callback form signs on the thread pool. For RSA the synchronous form would block the event loop for 1
 * ms each time. An ed25519 signature takes 0.05 ms, less than a turn in the pool.
 */
const signInPool = promisify<string, Uint8Array, KeyObject, Buffer>(sign);

/** The headers that a receiver verifies: the specification's own, and those of Standard Webhooks. */
export async function signedHeaders(
  signable: Signable,
  signer: Signer,
): Promise<Readonly<Record<string, string>>> {
  const rsa = await rsaSignature(signable, signer);
  return {
    "x-webhook-signature": rsa,
    "x-webhook-timestamp": String(signable.at),
    "webhook-id": signable.eventId,
    "webhook-timestamp": String(signable.at),
    "webhook-signature": standardSignatures(signable, signer).join(" "),
  };
}

/** RSASSA-PKCS1-v1_5 with SHA-256 over `signedContent`, in base64 (spec/webhooks.md 5.1). */
async function rsaSignature(signable: Signable, { keys, doubleHash }: Signer): Promise<string> {
  const content = Buffer.from(signedContent(signable));
  const signed = await signInPool(
    "RSA-SHA256",
    doubleHash ? createHash("sha256").update(content).digest() : content,
    keys.rsa,
  );
  return signed.toString("base64");
}

/**
 * Timestamp, registered URL and the body's SHA-256 in hex, separated by full stops (spec/webhooks.md 5.1).
 */
export const signedContent = ({ at, url, body }: Omit<Signable, "eventId">): string =>
  `${at}.${url}.${createHash("sha256").update(body).digest("hex")}`;

/** `v1,…` for each secret, and `v1a,…` for each ed25519 key (spec/webhooks.md 7). */
function standardSignatures({ eventId, at, body }: Signable, { keys, secrets }: Signer): string[] {
  const content = Buffer.concat([Buffer.from(`${eventId}.${at}.`), body]);
  const shared = secrets.map(
    (secret) => `v1,${createHmac("sha256", secret).update(content).digest("base64")}`,
  );
  return [...shared, ...keys.ed25519.map((key) => `v1a,${sign(null, content, key).toString("base64")}`)];
}
