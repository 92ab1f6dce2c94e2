import type { Caller, Scope } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";
import { findSite, lockSite, type WebsiteRef } from "./find-site.ts";

export const viewersMax = 100;

/**
 * A person who may see a private site: the account that signs in with this address (spec/decisions.md 72).
 */
export interface Viewer {
  /** Lower case. */
  readonly email: string;
  readonly createdAt: number;
}

export interface ViewerRows {
  /** By address. */
  list(websiteId: string): Promise<readonly Viewer[]>;
  insert(websiteId: string, viewers: readonly Viewer[]): Promise<void>;
  delete(websiteId: string, emails: readonly string[]): Promise<void>;
  /** Takes a person off the lists of all sites of a space. */
  deleteOfMember(member: Scope): Promise<void>;
}

/**
 * The viewers of the caller's sites: each method is one operation of spec/api.md 8.54, and returns the list
 * after it.
 */
export interface Viewers {
  list(tx: Tx, caller: Caller, which: WebsiteRef): Promise<readonly Viewer[]>;
  /** @throws Failure `resource_exhausted` beyond 100. */
  add(tx: Tx, caller: Caller, which: WebsiteRef, emails: readonly string[]): Promise<readonly Viewer[]>;
  remove(tx: Tx, caller: Caller, which: WebsiteRef, emails: readonly string[]): Promise<readonly Viewer[]>;
}

/** Letter case does not distinguish people. */
const normalize = (emails: readonly string[]): readonly string[] => [
  ...new Set(emails.map((email) => email.toLowerCase())),
];

export function viewers(clock: Pick<Clock, "now">): Viewers {
  return {
    list: async (tx, caller, which) => tx.viewers.list((await findSite(tx, caller, which)).id),
    async add(tx, caller, which, emails) {
      const { id } = await lockSite(tx, caller, which);
      const before = await tx.viewers.list(id);
      const known = new Set(before.map(({ email }) => email));
      const added = normalize(emails).filter((email) => !known.has(email));
      if (known.size + added.length > viewersMax)
        throw new Failure("resource_exhausted", `a website has at most ${viewersMax} viewers`);
      const createdAt = clock.now();
      await tx.viewers.insert(
        id,
        added.map((email) => ({ email, createdAt })),
      );
      tx.audit.note({ subject: id, after: { added: added.length, viewers: known.size + added.length } });
      return tx.viewers.list(id);
    },
    async remove(tx, caller, which, emails) {
      const { id } = await lockSite(tx, caller, which);
      const before = await tx.viewers.list(id);
      await tx.viewers.delete(id, normalize(emails));
      const after = await tx.viewers.list(id);
      tx.audit.note({ subject: id, after: { removed: before.length - after.length, viewers: after.length } });
      return after;
    },
  };
}
