import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import { applyCaps, type Visibility } from "../visibility.ts";

/** The types of shared objects: tasks, and websites once they are published. */
export type ShareType = "task" | "website";

/**
 * A present or past share. It is the row or tombstone of the task or website itself, so a share has the id
 * of its object. Times are Unix milliseconds.
 */
export interface Share {
  readonly id: string;
  readonly type: ShareType;
  readonly name: string;
  readonly accountId: string;
  /** The task itself, or the task that created the website. */
  readonly taskId: string;
  /** The owner's setting, before all caps. */
  readonly visibility: Visibility;
  /** The lowest of the caps; null for none. */
  readonly maxVisibility: Visibility | null;
  readonly sharedAt: number;
  readonly changedAt: number;
  /** False for a tombstone. */
  readonly exists: boolean;
}

/** A filter of shares. All present members apply; both times are inclusive. */
export interface ShareFilter {
  /** The beginning of the name, case-insensitive. */
  readonly prefix?: string;
  readonly accountId?: string;
  readonly from?: number;
  readonly until?: number;
  /** Before all caps. */
  readonly visibility?: Visibility;
}

export interface ShareRows {
  /** A page, latest first, and the total, from one snapshot. */
  list(
    spaceId: string,
    type: ShareType,
    filter: ShareFilter,
    page: { limit: number; offset: number },
  ): Promise<{ items: readonly Share[]; total: number }>;
  /** Reads and locks a share until this change ends. */
  lock(spaceId: string, id: string): Promise<Share | null>;
}

export interface SharePage {
  readonly items: readonly Share[];
  readonly total: number;
}

/** The shares of a team's members, for the team's asset keys (spec/enterprise.md 9). */
export interface Shares {
  /** Also notes the query for the audit log. @param asset the asset type and its name. */
  list(
    tx: Tx,
    caller: Caller,
    asset: { name: string; type: ShareType | null },
    filter: ShareFilter,
    page: { limit: number; offset: number },
  ): Promise<SharePage>;
  /**
   * Sets the team's cap of a share and replaces the team's earlier cap. The operator's cap stays.
   *
   * @throws Failure `not_found` for an unknown share and for another team's, `failed_precondition` if the
   * shared object is deleted.
   */
  cap(tx: Tx, caller: Caller, id: string, most: Visibility, remark: string): Promise<void>;
}

export function shares(clock: Clock): Shares {
  /**
   * The key's kind and name, which distinguish changes of the API from those of the operator
   * (spec/enterprise.md 9.1). A session has neither: the row's credential names it.
   */
  async function auditedKey(tx: Tx, caller: Caller) {
    const { credential } = caller;
    if (credential.kind !== "key") return {};
    const key = (await tx.keys.list(caller, clock.now())).find(({ id }) => id === credential.id);
    return { keyType: `KEY_TYPE_${credential.keyKind.toUpperCase()}`, apiKeyName: key?.name ?? "" };
  }

  return {
    async list(tx, caller, { name, type }, filter, page) {
      // Objects of other types are not shared.
      const result =
        type === null ? { items: [], total: 0 } : await tx.shares.list(caller.spaceId, type, filter, page);
      // A name may be message text: the audit log records only that a name was searched for, not which.
      const { prefix, ...rest } = filter;
      const query = { ...rest, ...(prefix === undefined ? {} : { byName: true }), ...page };
      tx.audit.note({
        subject: name,
        after: { ...(await auditedKey(tx, caller)), ...query, total: result.total },
      });
      return result;
    },

    async cap(tx, caller, id, most, remark) {
      const share = await tx.shares.lock(caller.spaceId, id);
      if (!share) throw notFound("share");
      if (!share.exists) throw new Failure("failed_precondition", "the shared object is deleted");
      const now = clock.now();
      if (share.type === "task") await tx.tasks.advance(id, { now, set: { maxVisibility: most } });
      else await tx.websites.setTeamCap(id, most, now);
      const after = await tx.shares.lock(caller.spaceId, id);
      const key = await auditedKey(tx, caller);
      tx.audit.note({
        subject: id,
        before: auditedState(share),
        after: { ...auditedState(after ?? share), teamMax: most, ...key, remark },
      });
    },
  };
}

/** A share's visibility, for the audit log. */
const auditedState = ({ visibility, maxVisibility }: Share) => ({
  visibility: applyCaps(visibility, maxVisibility),
  maxVisibility,
});
