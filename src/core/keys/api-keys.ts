import { type Caller, type KeyKind, lockActiveMember } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import {
  byCreation,
  type CursorBinding,
  decodeCursor,
  type Page,
  type PageInput,
  pageOf,
} from "../pagination/page.ts";
import { dayMs, type JobNeeds, type TimedJob } from "../processes/timed-job.ts";
import type { Store, Tx } from "../store.ts";
import {
  type ApiKey,
  type ApiKeyRows,
  createKey,
  type HeldKey,
  isKeyName,
  keyNameRule,
  type UsedKey,
} from "./api-key.ts";
import {
  checkRestrictions,
  type KeyRestrictions,
  limitsOf,
  noRestrictions,
  type RestrictionsInput,
} from "./restrictions.ts";

/** The minimum time between two recorded uses of a key, in milliseconds. */
export const useEveryMs = 60_000;

/**
 * Noted uses of keys. They are written separately from the calls, which neither wait for the write nor fail
 * with it.
 */
export interface KeyUses {
  /** Notes a use. It is cheap and usually does nothing. `wasUsedAt` is the last recorded use. */
  note(id: string, usedAt: number | null): void;
  /** Writes all noted uses in one change. A use whose write fails is lost until the key is used again. */
  write(): Promise<void>;
}

/**
 * @param rows the rows of the credentials: keys, workers or sessions.
 * @param everyMs a use within this many milliseconds after a recorded one is not recorded.
 */
export function keyUses(
  store: Pick<Store, "change">,
  clock: Pick<Clock, "now">,
  rows: (tx: Tx) => Pick<ApiKeyRows, "recordUse"> = ({ keys }) => keys,
  everyMs = useEveryMs,
): KeyUses {
  let noted = new Map<string, number>();
  return {
    note(id, usedAt) {
      const now = clock.now();
      if (usedAt === null || now - usedAt >= everyMs) noted.set(id, now);
    },
    async write() {
      if (noted.size === 0) return;
      // All nodes write keys in the same order, so that they do not deadlock.
      const uses = [...noted].toSorted(([a], [b]) => (a < b ? -1 : 1));
      noted = new Map();
      await store.change(async (tx) => {
        for (const [id, at] of uses) await rows(tx).recordUse(id, at, everyMs);
      });
    },
  };
}

/** The maximum lifetime of kinds of keys, which is also the default (spec/enterprise.md 1). */
const longestMs: Partial<Record<KeyKind, number>> = { team_user_mgmt: 365 * dayMs };

interface KeyParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
}

export interface ApiKeyInput {
  readonly name: string;
  readonly kind: KeyKind;
  /** Unix milliseconds; null: never, except kinds with a maximum lifetime. */
  readonly expiresAt: number | null;
  /** Undefined: none. */
  readonly restrictions: RestrictionsInput | undefined;
}

/** API keys of the caller's account in the caller's space (spec/decisions.md 3, 4). */
export interface ApiKeys {
  /**
   * @throws Failure `invalid_argument`, `permission_denied` for an enterprise kind if the caller is
   * not the team's owner, `resource_exhausted` when the account has 50 active general keys.
   */
  create(tx: Tx, caller: Caller, input: ApiKeyInput): Promise<{ key: ApiKey; text: string }>;
  /** Active ones, newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly UsedKey[]>;
  /** @throws Failure `not_found` */
  revoke(tx: Tx, caller: Caller, id: string): Promise<void>;
  /** @throws Failure `invalid_argument` for an invalid name, `not_found`. */
  rename(tx: Tx, caller: Caller, id: string, name: string): Promise<UsedKey>;
  /**
   * Replaces the restrictions of a key of the caller; undefined: none. Only sessions come here, so no key
   * changes what a key may do.
   *
   * @throws Failure `invalid_argument`, `not_found`.
   */
  restrict(tx: Tx, caller: Caller, id: string, restrictions: RestrictionsInput | undefined): Promise<UsedKey>;
  /**
   * The active keys of all holders in the caller's space, newest first; or of one of them. @throws Failure
   * `invalid_argument` for a cursor of another list.
   */
  listOfSpace(
    tx: Tx,
    caller: Caller,
    accountId: string | undefined,
    input: SpaceKeysInput,
  ): Promise<Page<HeldKey>>;
  /** @throws Failure `not_found` */
  revokeInSpace(tx: Tx, caller: Caller, id: string): Promise<void>;
}

type SpaceKeysInput = Pick<PageInput, "limit" | "cursor">;

export function apiKeys({ clock, ids, random }: KeyParts): ApiKeys {
  return {
    async create(tx, caller, { name, kind, expiresAt, restrictions }) {
      const { accountId, spaceId } = caller;
      const now = clock.now();
      if (kind !== "general") await checkOwner(tx, spaceId, accountId);
      const created = await createKey(
        tx,
        { now, ids, random },
        {
          accountId,
          spaceId,
          kind,
          name,
          expiresAt: keyExpiry(kind, expiresAt, now),
          restrictions: await checked(tx, caller, kind, restrictions),
        },
      );
      // Lock order: the account, then the member.
      await lockActiveMember(tx, caller);
      return created;
    },
    list: (tx, caller) => tx.keys.list(caller, clock.now()),
    async revoke(tx, caller, id) {
      const now = clock.now();
      const key = (await tx.keys.list(caller, now)).find((active) => active.id === id);
      const revoked = key !== undefined && (await tx.keys.revokeOwn(caller, id, now));
      if (!revoked) throw notFound("API key");
      tx.audit.note({ subject: id, before: { name: key.name, kind: key.kind } });
    },
    async rename(tx, caller, id, name) {
      if (!isKeyName(name)) throw invalidArgument("name", keyNameRule);
      const now = clock.now();
      const before = (await tx.keys.list(caller, now)).find((active) => active.id === id);
      const after = before && (await tx.keys.renameOwn(caller, id, name, now));
      if (!after) throw notFound("API key");
      tx.audit.note({ subject: id, before: { name: before.name }, after: { name } });
      return after;
    },
    async restrict(tx, caller, id, input) {
      const now = clock.now();
      const before = (await tx.keys.list(caller, now)).find((active) => active.id === id);
      const after =
        before && (await tx.keys.restrictOwn(caller, id, await checked(tx, caller, before.kind, input), now));
      if (!after) throw notFound("API key");
      tx.audit.note({ subject: id, before: limitsOf(before), after: limitsOf(after) });
      return after;
    },
    async listOfSpace(tx, { accountId, spaceId }, holder, { limit, cursor }) {
      const binding: CursorBinding = {
        accountId,
        spaceId,
        operation: "ListSpaceApiKeys",
        filter: { holder },
      };
      const position = cursor ? decodeCursor(binding, cursor) : undefined;
      const after = position && { createdAt: position.value, id: position.id };
      const found = await tx.keys.listOfSpace(
        spaceId,
        { accountId: holder, limit: limit + 1, after },
        clock.now(),
      );
      const page = pageOf(found, limit, binding, byCreation);
      tx.audit.note({ subject: holder ?? spaceId, after: { listed: page.items.length } });
      return page;
    },
    async revokeInSpace(tx, { spaceId }, id) {
      await revokeKeyOfSpace(tx, spaceId, id, clock.now());
    },
  };
}

const checked = async (
  tx: Tx,
  caller: Caller,
  kind: KeyKind,
  input: RestrictionsInput | undefined,
): Promise<KeyRestrictions> =>
  input === undefined ? noRestrictions : checkRestrictions(tx, caller, kind, input);

/** @throws Failure `not_found` */
export async function revokeKeyOfSpace(tx: Tx, spaceId: string, id: string, now: number): Promise<void> {
  const key = await tx.keys.revokeInSpace(spaceId, id, now);
  if (!key) throw notFound("API key");
  tx.audit.note({ subject: id, before: { name: key.name, kind: key.kind, holder: key.accountId } });
}

/** Checks the present owner, not the one at the start of the call: ownership may change in between. */
async function checkOwner(tx: Tx, spaceId: string, accountId: string): Promise<void> {
  await tx.accounts.lockSpace(spaceId);
  const owner = await tx.accounts.ownerOf(spaceId);
  if (owner?.accountId !== accountId)
    throw new Failure("permission_denied", "only the team's owner can create an enterprise key");
}

/**
 * When a new key expires; null: never.
 *
 * @param requested Unix milliseconds; null: the maximum lifetime of the kind, if it has one.
 * @throws Failure `invalid_argument` for a past time, or one beyond the maximum lifetime of the kind.
 */
export function keyExpiry(kind: KeyKind, requested: number | null, now: number): number | null {
  const longest = longestMs[kind];
  if (requested === null) return longest === undefined ? null : now + longest;
  if (requested <= now) throw invalidArgument("expires_at", "must be later than now");
  if (longest !== undefined && requested > now + longest)
    throw invalidArgument("expires_at", `must be within ${longest / dayMs} days`);
  return requested;
}

/** Writes the noted uses of credentials. The last use in a list may be late by 5 seconds and a minute. */
export const writeKeyUses: TimedJob<JobNeeds & { uses: Pick<KeyUses, "write"> }> = {
  name: "write-key-uses",
  every: 5_000,
  run: ({ uses }) => uses.write(),
};
