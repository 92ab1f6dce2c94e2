import type { Space } from "../../core/accounts/account.ts";
import type { ApiKeyRows, KeyHolder } from "../../core/keys/api-key.ts";
import type { Session } from "../session.ts";
import { allOf, join, type Sql, type Statement, sql } from "../statements.ts";
import { countRows, json, type RowOf, tables, textOrNull } from "../table.ts";

const { apiKey } = tables;

/**
 * An active membership sorts before the tombstones of earlier ones. One JSON text has both values, so that
 * the row is read once.
 */
const member = json<KeyHolder["member"]>(sql`(
  SELECT '{"role":"' || role || '","status":"' || CASE WHEN delegated_to IS NULL THEN status ELSE 'inactive' END || '"}'
  FROM membership m WHERE m.space_id = k.space_id AND m.account_id = k.account_id
  ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1)`);

/** Uses subqueries: on SQLite every column of a join costs several times as much. */
const held = apiKey.with({
  // Null once the account is erased.
  locale: textOrNull(sql`(SELECT locale FROM account WHERE id = k.account_id)`),
  spaceKind: textOrNull<Space["kind"]>(sql`(SELECT kind FROM space WHERE id = k.space_id)`),
  member,
});

const holder = (condition: Sql): Sql => sql`SELECT ${held.of("k")} FROM api_key k WHERE ${condition}`;

const heldKey = apiKey.with({ email: textOrNull(sql`(SELECT email FROM account WHERE id = k.account_id)`) });

export function apiKeyRows(session: Session): ApiKeyRows {
  const { execute } = session;
  async function findHolder(statement: Statement): Promise<KeyHolder | null> {
    const row = await held.row(session)(statement);
    return row && holderOf(row);
  }
  return {
    async insert(key) {
      await execute(apiKey.insert(key));
    },
    holder: (digest) => findHolder(holder(sql`k.digest = ${digest}`)),
    holderById: (id) => findHolder(holder(sql`k.id = ${id}`)),
    countActive: (accountId, now) =>
      countRows(
        session,
        sql`FROM api_key WHERE account_id = ${accountId} AND kind = 'general' AND ${isActive(now)}`,
      ),
    async revoke(id, now) {
      return (
        (await execute(
          sql`UPDATE api_key SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`,
        )) === 1
      );
    },
    async revokeOwn({ accountId, spaceId }, id, now) {
      const revoked = await execute(sql`
        UPDATE api_key SET revoked_at = ${now} WHERE id = ${id} AND account_id = ${accountId} AND space_id = ${spaceId} AND ${isActive(now)}`);
      return revoked === 1;
    },
    revokeAll: (accountId, spaceId, now) =>
      execute(sql`
        UPDATE api_key SET revoked_at = ${now} WHERE account_id = ${accountId} AND space_id = ${spaceId} AND revoked_at IS NULL`),
    list: ({ accountId, spaceId }, now) =>
      apiKey.rows(session)(sql`
        SELECT ${apiKey.of("api_key")} FROM api_key WHERE account_id = ${accountId} AND space_id = ${spaceId} AND ${isActive(now)}
        ORDER BY created_at DESC, id DESC`),
    listOfSpace: (spaceId, { accountId, limit, after }, now) =>
      heldKey.rows(session)(sql`
        SELECT ${heldKey.of("k")} FROM api_key k WHERE ${allOf([
          sql`k.space_id = ${spaceId}`,
          isActive(now),
          ...(accountId === undefined ? [] : [sql`k.account_id = ${accountId}`]),
          ...(after === undefined ? [] : [sql`(k.created_at, k.id) < (${after.createdAt}, ${after.id})`]),
        ])} ORDER BY k.created_at DESC, k.id DESC LIMIT ${limit}`),
    revokeInSpace: (spaceId, id, now) =>
      apiKey.row(session)(sql`
        UPDATE api_key SET revoked_at = ${now} WHERE id = ${id} AND space_id = ${spaceId} AND ${isActive(now)}
        RETURNING ${apiKey.of("api_key")}`),
    renameOwn: ({ accountId, spaceId }, id, name, now) =>
      apiKey.row(session)(sql`
        UPDATE api_key SET name = ${name} WHERE id = ${id} AND account_id = ${accountId} AND space_id = ${spaceId} AND ${isActive(now)}
        RETURNING ${apiKey.of("api_key")}`),
    restrictOwn: ({ accountId, spaceId }, id, { scopes, projectIds, addressRanges }, now) =>
      apiKey.row(session)(sql`
        UPDATE api_key SET ${join(apiKey.set({ scopes, projectIds, addressRanges }))}
        WHERE id = ${id} AND account_id = ${accountId} AND space_id = ${spaceId} AND ${isActive(now)}
        RETURNING ${apiKey.of("api_key")}`),
    async recordUse(id, at, everyMs) {
      await execute(
        sql`UPDATE api_key SET used_at = ${at} WHERE id = ${id} AND (used_at IS NULL OR used_at <= ${at - everyMs})`,
      );
    },
    async onlyUnused() {
      const [key, other] = await apiKey.rows(session)(
        sql`SELECT ${apiKey.of("api_key")} FROM api_key LIMIT 2`,
      );
      return key && !other && key.usedAt === null && key.revokedAt === null ? key.digest : null;
    },
    async transferEnterprise(spaceId, from, to) {
      await execute(
        sql`UPDATE api_key SET account_id = ${to} WHERE space_id = ${spaceId} AND account_id = ${from} AND kind <> 'general'`,
      );
    },
  };
}

const isActive = (now: number): Sql =>
  sql`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`;

/**
 * Null for a key in a team's space whose holder was never a member or is no longer one. Such a key grants no
 * access.
 */
function holderOf({ locale, spaceKind, member, ...key }: RowOf<typeof held>): KeyHolder | null {
  if (locale === null || (member === null && spaceKind !== "personal")) return null;
  return { key, locale, member };
}
