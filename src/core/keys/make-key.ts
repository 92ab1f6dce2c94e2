import type { KeyKind } from "../caller.ts";
import { Failure, invalid } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import { type ApiKey, keyDigest, livingKeysMax, newKeyText } from "./api-key.ts";

/** What new rows are made from. */
export interface Making {
  readonly now: number;
  readonly ids: Ids;
  readonly random: Random;
}

/** A key that is asked for. */
export interface WantedKey {
  readonly accountId: string;
  readonly spaceId: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly expiresAt?: number | null;
}

/** What a credential may be called, in words. */
export const keyNameRule = "must have 1 to 100 characters, no control characters, and no blank at either end";
const nameForm = /^(?!\s)[^\p{Cc}\p{Cs}]{1,100}(?<!\s)$/u;

/** Whether a credential may be called so. */
export const isKeyName = (name: string): boolean => nameForm.test(name);

/**
 * Makes a key in the change that is open. The text is in the answer, and nowhere
 * else ever again.
 *
 * @throws Failure `invalid` for a name that is none, `exhausted` when the account has 50 living general keys.
 */
export async function makeKey(
  tx: Tx,
  { now, ids, random }: Making,
  wanted: WantedKey,
): Promise<{ readonly key: ApiKey; readonly text: string }> {
  if (!isKeyName(wanted.name)) throw invalid("name", keyNameRule);
  const { accountId, spaceId, kind, name, expiresAt = null } = wanted;
  // The row lock makes counting and inserting one step.
  await tx.accounts.lock(accountId);
  if (kind === "general" && (await tx.keys.countLiving(accountId, now)) >= livingKeysMax) {
    throw new Failure("exhausted", `an account has at most ${livingKeysMax} living keys`);
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
  };
  await tx.keys.insert(key);
  tx.audit.note({ subject: key.id, after: { name, kind } });
  return { key, text };
}
