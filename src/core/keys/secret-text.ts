import { createHash } from "node:crypto";
import type { Random } from "../ids.ts";

const secretLength = 43;
const checksumLength = 6;

/**
 * Texts of one kind of secret: a prefix, 43 base64url characters of 32 random bytes, 6 of a checksum over
 * them.
 */
export interface SecretTexts {
  make(random: Random): string;
  /**
   * True if the text has the form of the secret. It distinguishes a mistyped secret from a revoked one
   * without a query.
   */
  matches(text: string): boolean;
}

/** @param label makes the checksums of each kind different. */
export function secretTexts(prefix: string, label: string): SecretTexts {
  const form = new RegExp(`^${prefix}[A-Za-z0-9_-]{${secretLength + checksumLength}}$`);
  const checksum = (secret: string): string =>
    createHash("sha256").update(`${label}:${secret}`).digest("base64url").slice(0, checksumLength);
  return {
    make(random) {
      const secret = Buffer.from(random(32)).toString("base64url");
      return `${prefix}${secret}${checksum(secret)}`;
    },
    matches(text) {
      if (!form.test(text)) return false;
      const secret = text.slice(prefix.length, prefix.length + secretLength);
      return checksum(secret) === text.slice(-checksumLength);
    },
  };
}

/** The stored digest of a secret. A secret has 256 random bits, so a plain hash is enough. */
export const secretDigest = (text: string): string => createHash("sha256").update(text).digest("hex");
