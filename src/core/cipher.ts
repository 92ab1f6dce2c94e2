import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { Random } from "./ids.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Encryption of what must be read back, AES-256-GCM under the installation's key; and marks that nobody else can make. */
export interface Cipher {
  /** `nonce ‖ tag ‖ ciphertext`; `context` says what it is and must be the same on opening. */
  seal(plain: Uint8Array, context: string): Bytes;
  /** Throws when the bytes were not sealed with this key and context. */
  open(sealed: Uint8Array, context: string): Bytes;
  /** Marks texts of one kind: HMAC-SHA256 under a key of that kind's own, derived from the installation's (HKDF, RFC 5869). */
  marker(kind: string): (text: string) => Bytes;
  /** A key of one kind's own, 32 bytes, another for each salt: for what is too large to be sealed at once. */
  derive(kind: string, salt: Uint8Array): Bytes;
  /** Tells one key from another without telling the key. */
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
    marker(kind) {
      const derived = Buffer.from(hkdfSync("sha256", key, "", kind, 32));
      return (text) => Uint8Array.from(createHmac("sha256", derived).update(text).digest());
    },
    derive: (kind, salt) => new Uint8Array(hkdfSync("sha256", key, salt, kind, 32)),
    check: createHmac("sha256", key).update("encryption key check").digest("hex"),
  };
}
