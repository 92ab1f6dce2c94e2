import { timingSafeEqual } from "node:crypto";
import type { Cipher } from "./cipher.ts";

/** Tokens of `{value}.{signature}` in base64url that this installation signs for one purpose. They hide nothing. */
export interface SignedTokens<T extends readonly unknown[]> {
  create(value: T): string;
  /** The value of a token, which is unchecked text; null for a forged one. */
  read(token: string): T | null;
}

/** @param purpose tokens of other purposes count as forged. */
export function signedTokens<T extends readonly unknown[]>(cipher: Pick<Cipher, "createMac">, purpose: string): SignedTokens<T> {
  const mac = cipher.createMac(purpose);
  return {
    create(value) {
      const text = Buffer.from(JSON.stringify(value)).toString("base64url");
      return `${text}.${Buffer.from(mac(text)).toString("base64url")}`;
    },
    read(token) {
      const [text = "", signature = "", ...rest] = token.split(".");
      if (rest.length > 0 || !isSame(Buffer.from(mac(text)), signature)) return null;
      // Safe cast: only this installation can sign a value, and it signs only this type for the purpose.
      return JSON.parse(Buffer.from(text, "base64url").toString()) as T;
    },
  };
}

/** Compares in constant time, and as text: base64url has several spellings of the same bytes. */
export function isSame(mac: Buffer, signature: string): boolean {
  const [expected, presented] = [Buffer.from(mac.toString("base64url")), Buffer.from(signature)];
  return expected.length === presented.length && timingSafeEqual(expected, presented);
}
