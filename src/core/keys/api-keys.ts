import type { Caller, KeyKind } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure, invalid } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import { holdMember } from "../teams/hold.ts";
import type { ApiKey, UsedKey } from "./api-key.ts";
import { makeKey } from "./make-key.ts";

const dayMs = 24 * 3_600_000;

/** Kinds that live for so long at most, and unless stated (contract/enterprise.md 1). */
const longestMs: Partial<Record<KeyKind, number>> = { team_user_mgmt: 365 * dayMs };

/** What new rows are made from. */
interface KeyParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
}

/** A key as its owner asks for it. */
export interface KeyWish {
  readonly name: string;
  readonly kind: KeyKind;
  /** Unix milliseconds; null: never, save kinds that have a longest life. */
  readonly expiresAt: number | null;
}

/** API keys of the caller's account in the caller's space (contract/decisions.md 3, 4). */
export interface ApiKeys {
  /**
   * @throws Failure `invalid`, `forbidden` for an enterprise kind by anyone but the
   * team's owner, `exhausted` when the account has 50 living general keys.
   */
  create(tx: Tx, caller: Caller, wish: KeyWish): Promise<{ readonly key: ApiKey; readonly text: string }>;
  /** Living ones, newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly UsedKey[]>;
  /** @throws Failure `absent` */
  revoke(tx: Tx, caller: Caller, id: string): Promise<void>;
}

export function apiKeys({ clock, ids, random }: KeyParts): ApiKeys {
  return {
    async create(tx, caller, { name, kind, expiresAt }) {
      const { accountId, spaceId } = caller;
      const now = clock.now();
      if (kind !== "general") await checkOwner(tx, spaceId, accountId);
      const made = await makeKey(tx, { now, ids, random }, { accountId, spaceId, kind, name, expiresAt: expiryOf(kind, expiresAt, now) });
      // After the account's lock, as everywhere.
      await holdMember(tx, caller);
      return made;
    },
    list: (tx, caller) => tx.keys.list(caller, clock.now()),
    async revoke(tx, caller, id) {
      const now = clock.now();
      const key = (await tx.keys.list(caller, now)).find((living) => living.id === id);
      const revoked = key !== undefined && (await tx.keys.revokeOwn(caller, id, now));
      if (!revoked) throw absent("API key");
      tx.audit.note({ subject: id, before: { name: key.name, kind: key.kind } });
    },
  };
}

/** The owner of this moment, not the one whom the call began with: ownership may move in between. */
async function checkOwner(tx: Tx, spaceId: string, accountId: string): Promise<void> {
  await tx.accounts.lockSpace(spaceId);
  const owner = await tx.accounts.ownerOf(spaceId);
  if (owner?.accountId !== accountId) throw new Failure("forbidden", "an enterprise key is made by the team's owner");
}

/** @throws Failure `invalid` for a time that is past, or further off than the kind may live. */
function expiryOf(kind: KeyKind, wanted: number | null, now: number): number | null {
  const longest = longestMs[kind];
  if (wanted === null) return longest === undefined ? null : now + longest;
  if (wanted <= now) throw invalid("expires_at", "must be later than now");
  if (longest !== undefined && wanted > now + longest) throw invalid("expires_at", `must be within ${longest / dayMs} days`);
  return wanted;
}
