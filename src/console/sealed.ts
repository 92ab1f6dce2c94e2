import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";

/**
 * A value in a browser's hands that nobody there can read or change, until it
 * expires. `context` says what it is, and whose.
 */
export function sealFor(cipher: Cipher, clock: Clock, context: string, value: object, ms: number): string {
  const text = JSON.stringify({ value, expiresAt: clock.now() + ms });
  return Buffer.from(cipher.seal(Buffer.from(text), context)).toString("base64url");
}

/** What was sealed; null when it is anything else, of another context, or too old. The type is the caller's, for whom only we can have sealed it. */
export function unsealed<T extends object>(cipher: Cipher, clock: Clock, context: string, text: string): T | null {
  try {
    const opened = Buffer.from(cipher.open(Buffer.from(text, "base64url"), context)).toString();
    const { value, expiresAt } = JSON.parse(opened) as { readonly value: T; readonly expiresAt: number }; // Sealed by us: nobody else can.
    return expiresAt > clock.now() ? value : null;
  } catch {
    return null;
  }
}
