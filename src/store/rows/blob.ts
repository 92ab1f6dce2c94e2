import type { BlobRows } from "../../core/files/blob.ts";
import type { Session } from "../session.ts";
import { insertInto, join, numberOf, sql, type Whole } from "../sql.ts";

interface Owned {
  readonly account_id: string | null;
  readonly bytes: Whole;
}

/** Blobs as rows, and beside them each account's sum. */
export function blobRows({ query, execute }: Session): BlobRows {
  /** The row lock of the sum makes changes of one account's quota come one after the other. */
  async function take(accountId: string | null, bytes: number, quota: number): Promise<boolean> {
    if (accountId === null) return true;
    await execute(sql`INSERT INTO storage (account_id, bytes) VALUES (${accountId}, 0) ON CONFLICT DO NOTHING`);
    const count = await execute(sql`
      UPDATE storage SET bytes = bytes + ${bytes} WHERE account_id = ${accountId} AND bytes + ${bytes} <= ${quota}`);
    return count === 1;
  }

  async function giveBack(dropped: readonly Owned[]): Promise<void> {
    const sums = new Map<string, number>();
    for (const { account_id: id, bytes } of dropped) if (id !== null) sums.set(id, (sums.get(id) ?? 0) + numberOf(bytes));
    // In one order everywhere, so that changes do not block each other.
    for (const [id, bytes] of [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      await execute(sql`UPDATE storage SET bytes = bytes - ${bytes} WHERE account_id = ${id}`);
    }
  }

  return {
    async begin({ id, accountId, bytes, leaseUntil }, quota) {
      await execute(insertInto("blob", [{ id, account_id: accountId, state: "writing", bytes, lease_until: leaseUntil }]));
      if (await take(accountId, bytes, quota)) return true;
      await execute(sql`DELETE FROM blob WHERE id = ${id}`);
      return false;
    },
    async reserve(id, more, quota) {
      const [found] = await query<Owned>(sql`
        UPDATE blob SET bytes = bytes + ${more} WHERE id = ${id} AND state = 'writing' RETURNING account_id, bytes`);
      if (!found) return false;
      if (await take(found.account_id, more, quota)) return true;
      await execute(sql`UPDATE blob SET bytes = bytes - ${more} WHERE id = ${id} AND state = 'writing'`);
      return false;
    },
    async renew(id, leaseUntil) {
      return (await execute(sql`UPDATE blob SET lease_until = ${leaseUntil} WHERE id = ${id} AND state = 'writing'`)) === 1;
    },
    async settle(id, { reserved, bytes }, leaseUntil) {
      const [found] = await query<Owned>(sql`
        UPDATE blob SET bytes = ${bytes}, lease_until = ${leaseUntil}
        WHERE id = ${id} AND state = 'writing' AND bytes = ${reserved} RETURNING account_id, bytes`);
      if (found) await giveBack([{ account_id: found.account_id, bytes: reserved - bytes }]);
      return found !== undefined;
    },
    async keep(id) {
      return (await execute(sql`UPDATE blob SET state = 'kept' WHERE id = ${id} AND state = 'writing'`)) === 1;
    },
    async abandon(id) {
      const begun = await query<Owned>(sql`
        UPDATE blob SET state = 'dropped' WHERE id = ${id} AND state = 'writing' RETURNING account_id, bytes`);
      await giveBack(begun);
      return begun.length === 1;
    },
    async drop(ids) {
      if (ids.length === 0) return;
      const kept = await query<Owned>(sql`
        UPDATE blob SET state = 'dropped', lease_until = 0 WHERE id IN (${join([...ids])}) AND state = 'kept' RETURNING account_id, bytes`);
      await giveBack(kept);
    },
    async takeLoose(now, leaseUntil, max) {
      const dead = await query<Owned>(sql`
        UPDATE blob SET state = 'dropped' WHERE state = 'writing' AND lease_until <= ${now} RETURNING account_id, bytes`);
      await giveBack(dead);
      const taken = await query<{ readonly id: string }>(sql`
        UPDATE blob SET lease_until = ${leaseUntil} WHERE state = 'dropped' AND lease_until <= ${now}
          AND id IN (SELECT id FROM blob WHERE state <> 'kept' AND lease_until <= ${now} ORDER BY lease_until LIMIT ${max})
        RETURNING id`);
      return taken.map(({ id }) => id);
    },
    async erase(ids) {
      if (ids.length > 0) await execute(sql`DELETE FROM blob WHERE id IN (${join([...ids])}) AND state = 'dropped'`);
    },
    async free(id) {
      const [found] = await query<Owned>(sql`SELECT account_id, bytes FROM blob WHERE id = ${id} AND state = 'kept'`);
      const freed = await execute(sql`UPDATE blob SET account_id = NULL WHERE id = ${id} AND state = 'kept' AND account_id IS NOT NULL`);
      if (found && freed === 1) await giveBack([found]);
    },
    async used(accountId) {
      const [found] = await query<{ readonly bytes: Whole }>(sql`SELECT bytes FROM storage WHERE account_id = ${accountId}`);
      return numberOf(found?.bytes ?? 0);
    },
  };
}
