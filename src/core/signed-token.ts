import { timingSafeEqual } from "node:crypto";
import type { Cipher, Mac } from "./cipher.ts";

/**
 * Tokens of `{value}.{signature}` in base64url that this installation signs for one purpose. They hide
 * nothing.
 */
export interface SignedTokens<T extends readonly unknown[]> {
  create(value: T): string;
  /** The value of a token, which is unchecked text; null for a forged one. */
  read(token: string): T | null;
}

/** @param purpose tokens of other purposes count as forged. */
export function signedTokens<T extends readonly unknown[]>(
  cipher: Pick<Cipher, "createMac">,
  purpose: string,
): SignedTokens<T> {
  const mac = cipher.createMac(purpose);
  return {
    create(value) {
      const text = Buffer.from(JSON.stringify(value)).toString("base64url");
      return `${text}.${Buffer.from(mac(text)).toString("base64url")}`;
    },
    read(token) {
      const [text = "", signature = "", ...rest] = token.split(".");
      if (rest.length > 0 || !isMacOf(mac, text, signature)) return null;
      // Safe cast: only this installation can sign a value, and it signs only this type for the purpose.
      return JSON.parse(Buffer.from(text, "base64url").toString()) as T;
    },
  };
}

/**
 * Whether a signature in base64url is a MAC of the text. Compares in constant time, and as text: base64url
 * has several spellings of the same bytes.
 */
export const isMacOf = (mac: Mac, text: string, signature: string): boolean =>
  mac.all(text).some((bytes) => isSame(Buffer.from(bytes).toString("base64url"), signature));

/** Compares two texts in constant time. */
export function isSame(expected: string, presented: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(presented)];
  return one.length === other.length && timingSafeEqual(one, other);
}
