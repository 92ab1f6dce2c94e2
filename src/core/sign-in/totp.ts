import { createHmac } from "node:crypto";
import { isSame } from "../signed-token.ts";

/** The length of a time step, RFC 6238 4.1. */
const stepMs = 30_000;
const digits = 6;
/** RFC 4226 4 recommends 160 bits. */
export const secretBytes = 20;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 6, without padding: how authenticator apps read a secret. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)])
    .join("");
}

/** The code of a time step: HOTP (RFC 4226 5.3) with HMAC-SHA-1, which all authenticator apps support. */
export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, "0");
}

/** The time step of a moment in Unix milliseconds. */
export const stepAt = (now: number): number => Math.floor(now / stepMs);

export const isCode = (text: string): boolean => /^\d{6}$/.test(text);

/**
 * The time step whose code this is: the present one, the one before or the one after (RFC 6238 5.2); null for
 * another code.
 */
export function stepOf(secret: Uint8Array, code: string, now: number): number | null {
  const present = stepAt(now);
  // All three are compared, so that the time does not depend on the step.
  const found = [present - 1, present, present + 1].filter(
    (step) => step >= 0 && isSame(codeAt(secret, step), code),
  );
  return found.at(-1) ?? null;
}

/** The address in the QR code that authenticator apps read. */
export function otpauthUrl(secret: Uint8Array, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
