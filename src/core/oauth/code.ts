import { createHash } from "node:crypto";
import type { ScopeName } from "./scope.ts";

/** A code is good for ten minutes (contract/oauth.md 7). */
export const codeMs = 600_000;

/** An authorization code as it is kept: never its text, only the SHA-256 of it. */
export interface OAuthCode {
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** Where it was sent; the exchange must name the same. */
  readonly redirectUri: string;
  readonly scopes: readonly ScopeName[];
  /** PKCE's, S256; null without. */
  readonly challenge: string | null;
  /** The app's when it was approved. */
  readonly generation: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A code and what became of it. */
export interface IssuedCode extends OAuthCode {
  readonly usedAt: number | null;
  /** The family that its use gave. */
  readonly familyId: string | null;
}

export interface CodeRows {
  insert(code: OAuthCode): Promise<void>;
  find(digest: string): Promise<IssuedCode | null>;
  /** Uses it up. False when somebody else did. */
  use(digest: string, familyId: string, now: number): Promise<boolean>;
  /** Uses up an account's codes in a space, for nothing; one that is being exchanged is waited for. */
  useUpOf(accountId: string, spaceId: string, now: number): Promise<void>;
  /** Forgets those that expired before; answers how many. */
  purge(before: number): Promise<number>;
}

/** A new code's text (contract/oauth.md 7). */
export const codeText = (clientId: string, short: string): string => `code_${clientId}_${short}`;

/** What is stored of a code: it has 128 random bits, so a plain hash is enough. */
export const codeDigest = (text: string): string => createHash("sha256").update(text).digest("hex");
