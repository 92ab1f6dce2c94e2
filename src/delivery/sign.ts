import { createHash, createHmac, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import type { SigningPair } from "./keys.ts";

/** What is signed: the bytes that are sent, and where they go. */
export interface Signable {
  readonly eventId: string;
  /** As it was registered, byte for byte. */
  readonly url: string;
  readonly body: Uint8Array;
  /** Unix seconds, of this attempt. */
  readonly at: number;
}

/** Whose receiver it is for. */
export interface Signer {
  readonly keys: SigningPair;
  /** The webhook's secrets of Standard Webhooks: two while the old one is good beside the new one. */
  readonly secrets: readonly Uint8Array[];
  /** For receivers that were built from the old samples, which hash twice (contract/webhooks.md 5.2). */
  readonly doubleHash: boolean;
}

/** With a callback it is done on the thread pool: here it would hold the event loop up for a millisecond each time. */
const signAside = promisify<string | null, Uint8Array, KeyObject, Buffer>(sign);

/** The headers that a receiver verifies: the contract's, and beside them those of Standard Webhooks. */
export async function signedHeaders(signable: Signable, signer: Signer): Promise<Readonly<Record<string, string>>> {
  const [rsa, items] = await Promise.all([rsaSignature(signable, signer), standardSignatures(signable, signer)]);
  return {
    "x-webhook-signature": rsa,
    "x-webhook-timestamp": String(signable.at),
    "webhook-id": signable.eventId,
    "webhook-timestamp": String(signable.at),
    "webhook-signature": items.join(" "),
  };
}

/** RSASSA-PKCS1-v1_5 with SHA-256 over `contractContent`, in base64 (contract/webhooks.md 5.1). */
async function rsaSignature(signable: Signable, { keys, doubleHash }: Signer): Promise<string> {
  const content = Buffer.from(contractContent(signable));
  const signed = await signAside("RSA-SHA256", doubleHash ? createHash("sha256").update(content).digest() : content, keys.rsa);
  return signed.toString("base64");
}

/** Timestamp, registered URL and the body's SHA-256 in hex, full stops between (contract/webhooks.md 5.1). */
export const contractContent = ({ at, url, body }: Omit<Signable, "eventId">): string =>
  `${at}.${url}.${createHash("sha256").update(body).digest("hex")}`;

/** `v1,…` for each secret and `v1a,…` (contract/webhooks.md 7). */
async function standardSignatures({ eventId, at, body }: Signable, { keys, secrets }: Signer): Promise<string[]> {
  const content = Buffer.concat([Buffer.from(`${eventId}.${at}.`), body]);
  const shared = secrets.map((secret) => `v1,${createHmac("sha256", secret).update(content).digest("base64")}`);
  const signed = await signAside(null, content, keys.ed25519);
  return [...shared, `v1a,${signed.toString("base64")}`];
}
