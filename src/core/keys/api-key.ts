import type { Role } from "../accounts/account.ts";
import type { KeyKind, Scope } from "../caller.ts";
import { secretDigest, secretTexts } from "./secret-text.ts";

/** At most so many living general keys per account, over all its spaces (contract/decisions.md 3). */
export const livingKeysMax = 50;

const texts = secretTexts("sk-", "api-key");

/** An API key as it is kept: never its text, only the SHA-256 of it. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** A key and when it was last used, as far as that is written. */
export interface UsedKey extends ApiKey {
  readonly usedAt: number | null;
}

/** A key together with what decides whether it opens anything at this moment. */
export interface KeyHolder {
  readonly key: UsedKey;
  readonly locale: string;
  /** The holder's role and standing in the key's space; null in a personal space. */
  readonly member: { readonly role: Role; readonly status: "active" | "inactive" | "removed" } | null;
}

export interface ApiKeyRows {
  insert(key: ApiKey): Promise<void>;
  /** One statement: key, account and membership. */
  holder(digest: string): Promise<KeyHolder | null>;
  /** Living general keys of an account, over all its spaces. */
  countLiving(accountId: string, now: number): Promise<number>;
  revoke(id: string, now: number): Promise<boolean>;
  /** As `revoke`, of the caller's own keys only. */
  revokeOwn(scope: Scope, id: string, now: number): Promise<boolean>;
  /** All of an account's living keys in a space; answers how many. */
  revokeAll(accountId: string, spaceId: string, now: number): Promise<number>;
  /** Living keys of an account in a space, newest first. */
  list(scope: Scope, now: number): Promise<UsedKey[]>;
  /** Writes a use, unless one is written that is less than `everyMs` older, or newer. */
  use(id: string, at: number, everyMs: number): Promise<void>;
  /** The digest of the installation's only key, while that was never used or revoked; null otherwise. */
  onlyUnused(): Promise<string | null>;
  /** Puts the enterprise keys of a space into another hand. */
  giveEnterprise(spaceId: string, fromAccountId: string, toAccountId: string): Promise<void>;
}

/** A new key's text: `sk-`, 43 base64url characters of 32 random bytes, 6 of a checksum over them. */
export const newKeyText = texts.make;

/** True when the text can be a key at all: a mistyped one is told from a revoked one without a query. */
export const isKeyText = texts.is;

/** What is stored of a key: it has 256 random bits, so a plain hash is enough. */
export const keyDigest = secretDigest;
