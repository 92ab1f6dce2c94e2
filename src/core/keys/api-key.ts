import type { Role } from "../accounts/account.ts";
import type { KeyKind, Scope } from "../accounts/caller.ts";
import { Failure, invalidArgument } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import { type KeyRestrictions, noRestrictions, toAuditFacts } from "./restrictions.ts";
import { secretDigest, secretTexts } from "./secret-text.ts";

/** The maximum number of active general keys per account, over all its spaces (spec/decisions.md 3). */
const activeKeysMax = 50;

const texts = secretTexts("sk-", "api-key");

/** An API key as stored: the SHA-256 of its text, never the text. */
export interface ApiKey extends KeyRestrictions {
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
  /** The last four characters of the text; null for keys that were created before it was stored. */
  readonly lastFour: string | null;
}

export interface HeldKey extends UsedKey {
  /** The holder's address; null once the account is erased. */
  readonly email: string | null;
}

/** A page of a space's keys, newest first; it begins after this key. */
export interface SpaceKeyPage {
  /** Only keys of this account. */
  readonly accountId?: string | undefined;
  readonly limit: number;
  readonly after?: Pick<ApiKey, "createdAt" | "id"> | undefined;
}

/** A key with its last recorded use. */
export interface UsedKey extends ApiKey {
  readonly usedAt: number | null;
}

/** A key with the facts that decide whether it grants access now. */
export interface KeyHolder {
  readonly key: UsedKey;
  readonly locale: string;
  /** The holder's role and status in the key's space; null in a personal space. */
  readonly member: { role: Role; status: "active" | "inactive" | "removed" } | null;
}

export interface ApiKeyRows {
  insert(key: ApiKey): Promise<void>;
  /** One statement: key, account and membership. */
  holder(digest: string): Promise<KeyHolder | null>;
  /** The same by the key's id, for addresses that the key has made. */
  holderById(id: string): Promise<KeyHolder | null>;
  /** Over all its spaces. */
  countActive(accountId: string, now: number): Promise<number>;
  revoke(id: string, now: number): Promise<boolean>;
  /** As `revoke`, but only for the caller's own keys. */
  revokeOwn(scope: Scope, id: string, now: number): Promise<boolean>;
  /** Revokes all active keys of an account in a space and returns their number. */
  revokeAll(accountId: string, spaceId: string, now: number): Promise<number>;
  /** Newest first. */
  list(scope: Scope, now: number): Promise<UsedKey[]>;
  /** Newest first. */
  listOfSpace(spaceId: string, page: SpaceKeyPage, now: number): Promise<HeldKey[]>;
  /** Null when there is none. */
  revokeInSpace(spaceId: string, id: string, now: number): Promise<ApiKey | null>;
  /** Null when there is none. */
  renameOwn(scope: Scope, id: string, name: string, now: number): Promise<UsedKey | null>;
  /** Null when there is none. */
  restrictOwn(scope: Scope, id: string, restrictions: KeyRestrictions, now: number): Promise<UsedKey | null>;
  /** Records a use, unless the recorded one is newer or less than `everyMs` milliseconds older. */
  recordUse(id: string, at: number, everyMs: number): Promise<void>;
  /** The digest of the installation's only key, if it was never used or revoked; otherwise null. */
  onlyUnused(): Promise<string | null>;
  transferEnterprise(spaceId: string, fromAccountId: string, toAccountId: string): Promise<void>;
}

/** A new key's text: `sk-`, 43 base64url characters of 32 random bytes, 6 of a checksum over them. */
export const newKeyText = texts.make;

/**
 * True if the text has the form of a key. It distinguishes a mistyped key from a revoked one without a query.
 */
export const isKeyText = texts.matches;

/** The stored digest of a key. A key has 256 random bits, so a plain hash is enough. */
export const keyDigest = secretDigest;

/** The time, the ids and the random bytes of new rows. */
export interface CreationContext {
  readonly now: number;
  readonly ids: Ids;
  readonly random: Random;
}

export interface KeyInput {
  readonly accountId: string;
  readonly spaceId: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly expiresAt?: number | null;
  /** By default none. They are checked (`checkRestrictions`). */
  readonly restrictions?: KeyRestrictions;
}

/** The rule for names of credentials, as an error text. */
export const keyNameRule = "must have 1 to 100 characters, no control characters, and no blank at either end";
const nameForm = /^(?!\s)[^\p{Cc}\p{Cs}]{1,100}(?<!\s)$/u;

/** Whether a text is a valid name of a credential. */
export const isKeyName = (name: string): boolean => nameForm.test(name);

/**
 * Creates a key in the open change. Only the return value has the text of the key: it is not stored.
 *
 * @throws Failure `invalid_argument` for an invalid name, `resource_exhausted` when the account has 50 active
 * general keys.
 */
export async function createKey(
  tx: Tx,
  { now, ids, random }: CreationContext,
  input: KeyInput,
): Promise<{ key: ApiKey; text: string }> {
  if (!isKeyName(input.name)) throw invalidArgument("name", keyNameRule);
  const { accountId, spaceId, kind, name, expiresAt = null, restrictions = noRestrictions } = input;
  // The row lock makes counting and inserting one step.
  await tx.accounts.lock(accountId);
  if (kind === "general" && (await tx.keys.countActive(accountId, now)) >= activeKeysMax) {
    throw new Failure("resource_exhausted", `an account has at most ${activeKeysMax} active keys`);
  }
  const text = newKeyText(random);
  const key: ApiKey = {
    id: ids.short(),
    accountId,
    spaceId,
    kind,
    name,
    digest: keyDigest(text),
    createdAt: now,
    expiresAt,
    revokedAt: null,
    lastFour: text.slice(-4),
    ...restrictions,
  };
  await tx.keys.insert(key);
  tx.audit.note({
    subject: key.id,
    after: { name, kind, ...(expiresAt === null ? {} : { expiresAt }), ...toAuditFacts(restrictions) },
  });
  return { key, text };
}
