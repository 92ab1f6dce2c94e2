import type { BlobRows } from "../../core/files/blob.ts";
import type { Session } from "../session.ts";
import { join, type Sql, sql } from "../statements.ts";
import { type RowOf, tables } from "../table.ts";

const { blob, storage } = tables;
const owned = blob.pick("accountId", "bytes");
const ids = blob.pick("id");
const sum = storage.pick("bytes");

/** Splits ids so that each set has an id once. */
function roundsOf(ids: readonly string[]): readonly Set<string>[] {
  const rounds: Set<string>[] = [];
  for (const id of ids) {
    const round = rounds.find((each) => !each.has(id));
    if (round) round.add(id);
    else rounds.push(new Set([id]));
  }
  return rounds;
}

/** Blobs as rows, and the total of each account. */
export function blobRows(session: Session): BlobRows {
  const { execute } = session;
  const changed = (update: Sql) => owned.rows(session)(sql`${update} RETURNING ${owned.of("blob")}`);

  /** The row lock of the account's total serializes the changes of its quota. */
  async function reserveQuota(accountId: string | null, bytes: number, quota: number): Promise<boolean> {
    if (accountId === null) return true;
    await execute(sql`${storage.insert({ accountId, bytes: 0 })} ON CONFLICT DO NOTHING`);
    const count = await execute(sql`
      UPDATE storage SET bytes = bytes + ${bytes} WHERE account_id = ${accountId} AND bytes + ${bytes} <= ${quota}`);
    return count === 1;
  }

  async function releaseQuota(dropped: readonly RowOf<typeof owned>[]): Promise<void> {
    const sums = new Map<string, number>();
    for (const { accountId, bytes } of dropped)
      if (accountId !== null) sums.set(accountId, (sums.get(accountId) ?? 0) + bytes);
    // Lock order: by account id, so that changes do not deadlock.
    for (const [id, bytes] of [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      await execute(sql`UPDATE storage SET bytes = bytes - ${bytes} WHERE account_id = ${id}`);
    }
  }

  return {
    async begin({ id, accountId, bytes, leaseUntil }, quota) {
      await execute(blob.insert({ id, accountId, state: "writing", bytes, leaseUntil }));
      if (await reserveQuota(accountId, bytes, quota)) return true;
      await execute(sql`DELETE FROM blob WHERE id = ${id}`);
      return false;
    },
    async reserve(id, more, quota) {
      const [found] = await changed(
        sql`UPDATE blob SET bytes = bytes + ${more} WHERE id = ${id} AND state = 'writing'`,
      );
      if (!found) return false;
      if (await reserveQuota(found.accountId, more, quota)) return true;
      await execute(sql`UPDATE blob SET bytes = bytes - ${more} WHERE id = ${id} AND state = 'writing'`);
      return false;
    },
    async renew(id, leaseUntil) {
      return (
        (await execute(
          sql`UPDATE blob SET lease_until = ${leaseUntil} WHERE id = ${id} AND state = 'writing'`,
        )) === 1
      );
    },
    async settle(id, { reserved, bytes }, leaseUntil) {
      const [found] = await changed(sql`
        UPDATE blob SET bytes = ${bytes}, lease_until = ${leaseUntil}
        WHERE id = ${id} AND state = 'writing' AND bytes = ${reserved}`);
      if (found) await releaseQuota([{ ...found, bytes: reserved - bytes }]);
      return found !== undefined;
    },
    async keep(id) {
      return (
        (await execute(sql`UPDATE blob SET state = 'kept' WHERE id = ${id} AND state = 'writing'`)) === 1
      );
    },
    async abandon(id) {
      const begun = await changed(
        sql`UPDATE blob SET state = 'dropped' WHERE id = ${id} AND state = 'writing'`,
      );
      await releaseQuota(begun);
      return begun.length === 1;
    },
    async share(id) {
      return (
        (await execute(sql`
          UPDATE blob SET refs = refs + 1 WHERE id = ${id} AND state = 'kept' AND account_id IS NULL`)) === 1
      );
    },
    async drop(dropped) {
      // A shared blob counts toward no quota.
      for (const ids of roundsOf(dropped))
        await releaseQuota(
          await changed(sql`
            UPDATE blob SET refs = refs - 1, state = CASE WHEN refs > 1 THEN state ELSE 'dropped' END,
              lease_until = CASE WHEN refs > 1 THEN lease_until ELSE 0 END
            WHERE id IN (${join([...ids])}) AND state = 'kept'`),
        );
    },
    async claimDeletable(now, leaseUntil, max) {
      const abandoned = await changed(
        sql`UPDATE blob SET state = 'dropped' WHERE state = 'writing' AND lease_until <= ${now}`,
      );
      await releaseQuota(abandoned);
      const taken = await ids.rows(session)(sql`
        UPDATE blob SET lease_until = ${leaseUntil} WHERE state = 'dropped' AND lease_until <= ${now}
          AND id IN (SELECT id FROM blob WHERE state <> 'kept' AND lease_until <= ${now} ORDER BY lease_until LIMIT ${max})
        RETURNING ${ids.of("blob")}`);
      return taken.map(({ id }) => id);
    },
    async deleteDropped(dropped) {
      if (dropped.length > 0)
        await execute(sql`DELETE FROM blob WHERE id IN (${join([...dropped])}) AND state = 'dropped'`);
    },
    async releaseQuota(id) {
      const found = await owned.row(session)(
        sql`SELECT ${owned.of("blob")} FROM blob WHERE id = ${id} AND state = 'kept'`,
      );
      const freed = await execute(
        sql`UPDATE blob SET account_id = NULL WHERE id = ${id} AND state = 'kept' AND account_id IS NOT NULL`,
      );
      if (found && freed === 1) await releaseQuota([found]);
    },
    async usedBytes(accountId) {
      const row = await sum.row(session)(
        sql`SELECT ${sum.of("storage")} FROM storage WHERE account_id = ${accountId}`,
      );
      return row?.bytes ?? 0;
    },
  };
}
