import { createHash } from "node:crypto";

/** True for what S256 makes: 32 bytes in base64url without padding (RFC 7636 4.2). */
export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** True for a verifier's form (RFC 7636 4.1). */
export const isVerifier = (text: string): boolean => /^[A-Za-z0-9._~-]{43,128}$/.test(text);

/** The S256 challenge of a verifier. */
export const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");
