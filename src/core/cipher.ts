import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { Clock } from "./clock.ts";
import type { Random } from "./ids.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Encrypts values with AES-256-GCM under the installation's key, and authenticates texts under keys derived from it. */
export interface Cipher {
  /** Returns `nonce ‖ tag ‖ ciphertext`. `context` names the value's purpose; `open` needs the same context. */
  seal(plain: Uint8Array, context: string): Bytes;
  /** Throws when the bytes were not sealed with this key and context. */
  open(sealed: Uint8Array, context: string): Bytes;
  /** Returns a function that computes the HMAC-SHA256 of a text. Each kind has its own key, derived from the installation's (HKDF, RFC 5869). */
  createMac(kind: string): (text: string) => Bytes;
  /** Derives a 32-byte key for this kind and salt, to encrypt data that is too large for one `seal`. */
  derive(kind: string, salt: Uint8Array): Bytes;
  /** Identifies the key without revealing it. */
  readonly check: string;
}

const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

/** @param key 32 bytes. */
export function cipherFrom(key: Uint8Array, random: Random): Cipher {
  return {
    seal(plain, context) {
      const nonce = random(nonceLength);
      const sealing = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([sealing.update(plain), sealing.final()]);
      return Uint8Array.from(Buffer.concat([nonce, sealing.getAuthTag(), body]));
    },
    open(sealed, context) {
      const opening = createDecipheriv(algorithm, key, sealed.subarray(0, nonceLength), { authTagLength: tagLength });
      opening.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
      return Uint8Array.from(Buffer.concat([opening.update(sealed.subarray(nonceLength + tagLength)), opening.final()]));
    },
    createMac(kind) {
      const derived = Buffer.from(hkdfSync("sha256", key, "", kind, 32));
      return (text) => Uint8Array.from(createHmac("sha256", derived).update(text).digest());
    },
    derive: (kind, salt) => new Uint8Array(hkdfSync("sha256", key, salt, kind, 32)),
    check: createHmac("sha256", key).update("encryption key check").digest("hex"),
  };
}

/**
 * Seals a value that a browser keeps but cannot read or change. It expires after
 * `ms` milliseconds. `context` names the value's purpose and its owner.
 */
export function sealExpiring(cipher: Cipher, clock: Clock, context: string, value: object, ms: number): string {
  const text = JSON.stringify({ value, expiresAt: clock.now() + ms });
  return Buffer.from(cipher.seal(Buffer.from(text), context)).toString("base64url");
}

/**
 * Opens a value that `sealExpiring` sealed. Returns null for any other text, another context or an expired value. The
 * caller chooses the type: only this installation can have sealed the value.
 */
export function openExpiring<T extends object>(cipher: Cipher, clock: Clock, context: string, text: string): T | null {
  try {
    const opened = Buffer.from(cipher.open(Buffer.from(text, "base64url"), context)).toString();
    const { value, expiresAt } = JSON.parse(opened) as { readonly value: T; readonly expiresAt: number }; // Safe cast: only this installation can seal a value.
    return expiresAt > clock.now() ? value : null;
  } catch {
    return null;
  }
}
