import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { Tx } from "../store.ts";
import { capped, type Visibility } from "../visibility.ts";
import type { Share, ShareFilter, ShareType } from "./share.ts";

/** What a page shows. */
export interface SharePage {
  readonly items: readonly Share[];
  readonly total: number;
}

/** What a team's members share, as its keys for assets see it (contract/enterprise.md 9). */
export interface Shares {
  /** Also notes that somebody looked, and at what. @param listed the asset type's name. */
  list(
    tx: Tx,
    caller: Caller,
    listed: { readonly name: string; readonly type: ShareType | null },
    filter: ShareFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<SharePage>;
  /**
   * Caps a share, in place of the cap that the team has set before; that of the operator stays.
   *
   * @throws Failure `absent` for an unknown share and for another team's, `precondition` when the thing itself is gone.
   */
  cap(tx: Tx, caller: Caller, id: string, most: Visibility, remark: string): Promise<void>;
}

export function shares(clock: Clock): Shares {
  /** Kind and name of the key, which tell the API's changes from the operator's (contract/enterprise.md 9.1). */
  async function keyOf(tx: Tx, caller: Caller) {
    const { credential } = caller;
    if (credential.kind !== "key") throw new Error("no key");
    const key = (await tx.keys.list(caller, clock.now())).find(({ id }) => id === credential.id);
    return { keyType: `KEY_TYPE_${credential.keyKind.toUpperCase()}`, apiKeyName: key?.name ?? "" };
  }

  return {
    async list(tx, caller, { name, type }, filter, page) {
      // Nothing else is shared here.
      const found = type === null ? { items: [], total: 0 } : await tx.shares.list(caller.spaceId, type, filter, page);
      // A name may be what was said: of what was looked for it is told only that it was.
      const { prefix, ...rest } = filter;
      const asked = { ...rest, ...(prefix === undefined ? {} : { byName: true }), ...page };
      tx.audit.note({ subject: name, after: { ...(await keyOf(tx, caller)), ...asked, total: found.total } });
      return found;
    },

    async cap(tx, caller, id, most, remark) {
      const share = await tx.shares.lock(caller.spaceId, id);
      if (!share) throw absent("share");
      if (!share.exists) throw new Failure("precondition", "what was shared is gone");
      const now = clock.now();
      if (share.type === "task") await tx.tasks.advance(id, { now, set: { maxVisibility: most } });
      else await tx.websites.capByTeam(id, most, now);
      const after = await tx.shares.lock(caller.spaceId, id);
      const key = await keyOf(tx, caller);
      tx.audit.note({ subject: id, before: stand(share), after: { ...stand(after ?? share), teamMax: most, ...key, remark } });
    },
  };
}

/** How a share stands, as the audit log tells it. */
const stand = ({ visibility, maxVisibility }: Share) => ({ visibility: capped(visibility, maxVisibility), maxVisibility });
