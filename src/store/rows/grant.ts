import type { GrantKey, GrantRows, OAuthGrant } from "../../core/oauth/grant.ts";
import { isScope } from "../../core/oauth/scope.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import { changeOf, type Session } from "../session.ts";
import { insertInto, numberOf, type Sql, sql, type Whole } from "../sql.ts";
import { textsIn } from "./app.ts";
import { type StandingRow, standingColumns, standingOf } from "./standing.ts";

interface GrantStandingRow extends StandingRow {
  readonly grant_revoked_at: Whole | null;
}

const standing = standingColumns("g");

/** Grants of users to apps as rows. */
export function grantRows(session: Session): GrantRows {
  const { db, dialect, query, execute } = session;
  const living = ({ accountId, spaceId, clientId }: GrantKey) => ({ accountId, spaceId, clientId, revokedAt: null });
  const find = async (key: GrantKey) => grantOf(await db.oAuthGrant.findFirst({ where: living(key) }));
  const lock: GrantRows["lock"] = async (grant) => {
    changeOf(session);
    // An insert that yields to a row that is there: PostgreSQL waits for the change that wrote it.
    await execute(sql`${insertInto("oauth_grant", [columnsOf(grant)])} ON CONFLICT DO NOTHING`);
    const { accountId, spaceId, clientId } = grant;
    if (dialect === "postgresql") {
      await query(sql`
        SELECT id FROM oauth_grant
        WHERE space_id = ${spaceId} AND account_id = ${accountId} AND client_id = ${clientId} AND revoked_at IS NULL FOR UPDATE`);
    }
    // Null when the row that was there was revoked in between: then there is place for another.
    return (await find(grant)) ?? lock(grant);
  };
  return {
    find,
    lock,
    byId: async (id) => grantOf(await db.oAuthGrant.findFirst({ where: { id, revokedAt: null } })),
    async standing(id) {
      const [row] = await query<GrantStandingRow>(
        sql`SELECT g.revoked_at AS grant_revoked_at, ${standing} FROM oauth_grant g WHERE g.id = ${id}`,
      );
      return row ? standingOf(row, row.grant_revoked_at === null) : null;
    },
    async list(accountId, spaceId) {
      const where = { accountId, spaceId, revokedAt: null };
      const rows = await db.oAuthGrant.findMany({ where, orderBy: [{ createdAt: "desc" }, { id: "desc" }] });
      return rows.flatMap((row) => grantOf(row) ?? []);
    },
    async update({ id, scopes, connectorUids, generation, updatedAt }) {
      const data = { scopes: JSON.stringify(scopes), connectorUids: JSON.stringify(connectorUids), generation, updatedAt };
      await db.oAuthGrant.updateMany({ where: { id, revokedAt: null }, data });
    },
    async revoke(id, now) {
      const { count } = await db.oAuthGrant.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now } });
      return count === 1;
    },
    async revokeAll(accountId, spaceId, now) {
      const { count } = await db.oAuthGrant.updateMany({ where: { accountId, spaceId, revokedAt: null }, data: { revokedAt: now } });
      return count;
    },
  };
}

/** Codes and tokens of an account in a space: those of revoked grants are dead anyway. */
export const ofGrants = (accountId: string, spaceId: string): Sql => sql`
  grant_id IN (SELECT g.id FROM oauth_grant g WHERE g.space_id = ${spaceId} AND g.account_id = ${accountId} AND g.revoked_at IS NULL)`;

const columnsOf = ({ id, generation, ...grant }: OAuthGrant) => ({
  ...{ id, generation },
  account_id: grant.accountId,
  space_id: grant.spaceId,
  client_id: grant.clientId,
  scopes: JSON.stringify(grant.scopes),
  connector_uids: JSON.stringify(grant.connectorUids),
  created_at: grant.createdAt,
  updated_at: grant.updatedAt,
});

function grantOf(row: Rows.OAuthGrant | null): OAuthGrant | null {
  if (row === null) return null;
  const { revokedAt: _, ...grant } = row;
  return {
    ...grant,
    scopes: textsIn(row.scopes).filter(isScope),
    connectorUids: textsIn(row.connectorUids),
    createdAt: numberOf(row.createdAt),
    updatedAt: numberOf(row.updatedAt),
  };
}
