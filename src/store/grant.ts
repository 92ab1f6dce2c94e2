import type { GrantRows, GrantView } from "../core/oauth/grant.ts";
import { isScope } from "../core/oauth/scope.ts";
import { textsIn } from "./app.ts";
import type { Session } from "./session.ts";
import { numberOf, sql, type Whole } from "./sql.ts";

interface GrantRow {
  readonly id: string;
  readonly client_id: string;
  readonly name: string;
  readonly homepage_url: string;
  readonly scopes: string;
  readonly connector_uids: string;
  readonly created_at: Whole;
  readonly updated_at: Whole;
}

/** What members let apps do, as rows. */
export function grantRows({ db, query }: Session): GrantRows {
  return {
    async list({ accountId, spaceId }) {
      const rows = await query<GrantRow>(sql`
        SELECT g.id, g.client_id, p.name, p.homepage_url, g.scopes, g.connector_uids, g.created_at, g.updated_at
        FROM oauth_grant g JOIN oauth_app p ON p.client_id = g.client_id
        WHERE g.space_id = ${spaceId} AND g.account_id = ${accountId} AND g.revoked_at IS NULL AND p.deleted_at IS NULL
        ORDER BY g.created_at DESC, g.id DESC`);
      return rows.map(grantOf);
    },
    async revoke({ accountId, spaceId }, clientId, now) {
      const { count } = await db.oAuthGrant.updateMany({
        where: { accountId, spaceId, clientId, revokedAt: null },
        data: { revokedAt: now },
      });
      return count > 0;
    },
  };
}

const grantOf = (row: GrantRow): GrantView => ({
  id: row.id,
  clientId: row.client_id,
  appName: row.name,
  homepageUrl: row.homepage_url,
  scopes: textsIn(row.scopes).filter(isScope),
  connectorUids: textsIn(row.connector_uids),
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
});
