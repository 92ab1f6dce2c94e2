import { knownScopes } from "../../core/accounts/caller.ts";
import type { DeviceRows } from "../../core/oauth/device.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forUpdate, join, type Sql, sql } from "../statements.ts";
import { countRows, tables } from "../table.ts";
import { ofGrants } from "./grant.ts";

const { oAuthDevice } = tables;
const device = oAuthDevice.derive("scopes", ["scopes"], knownScopes);

/** Requests of devices without a browser as rows. */
export function deviceRows(session: Session): DeviceRows {
  const { dialect, execute } = session;
  const first = (condition: Sql, lock = empty) =>
    device.row(session)(sql`SELECT ${device.of("t")} FROM oauth_device t WHERE ${condition} ${lock}`);
  return {
    insert: async (row) =>
      (await execute(sql`${oAuthDevice.insert(row)} ON CONFLICT (user_digest) DO NOTHING`)) === 1,
    find: (digest) => first(sql`t.digest = ${digest}`),
    findByUserCode: (userDigest) => first(sql`t.user_digest = ${userDigest}`),
    async lock(digest) {
      changeOf(session);
      return first(sql`t.digest = ${digest}`, forUpdate(dialect, "t"));
    },
    countPending: (clientId, network, now) =>
      countRows(
        session,
        sql`FROM oauth_device t WHERE t.client_id = ${clientId}
          ${network === null ? empty : sql`AND t.network = ${network}`} AND t.decided_at IS NULL AND t.expires_at > ${now}`,
      ),
    async poll(digest, polledAt, intervalMs) {
      await execute(
        sql`UPDATE oauth_device SET ${join(oAuthDevice.set({ polledAt, intervalMs }))} WHERE digest = ${digest}`,
      );
    },
    async decide(digest, { accountId, spaceId, grantId, generation }, decidedAt) {
      const set = oAuthDevice.set({ accountId, spaceId, grantId, generation, decidedAt });
      return (
        (await execute(
          sql`UPDATE oauth_device SET ${join(set)} WHERE digest = ${digest} AND decided_at IS NULL`,
        )) === 1
      );
    },
    async use(digest, familyId, usedAt) {
      const set = oAuthDevice.set({ usedAt, familyId });
      return (
        (await execute(
          sql`UPDATE oauth_device SET ${join(set)} WHERE digest = ${digest} AND used_at IS NULL`,
        )) === 1
      );
    },
    async useUpAll(accountId, spaceId, now) {
      await execute(
        sql`UPDATE oauth_device SET used_at = ${now} WHERE ${ofGrants(accountId, spaceId)} AND used_at IS NULL`,
      );
    },
    purge: (before) => execute(sql`DELETE FROM oauth_device WHERE expires_at < ${before}`),
  };
}
