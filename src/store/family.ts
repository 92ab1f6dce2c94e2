import type { MemberStatus, Role } from "../core/accounts/account.ts";
import type { FamilyRows, TokenHolder } from "../core/oauth/family.ts";
import { isScope } from "../core/oauth/scope.ts";
import { textsIn } from "./app.ts";
import type { Session } from "./session.ts";
import { sql, type Whole } from "./sql.ts";

interface HolderRow {
  readonly id: string;
  readonly client_id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly scopes: string;
  readonly generation: Whole;
  readonly access_id: string | null;
  readonly revoked_at: Whole | null;
  readonly grant_uids: string;
  readonly grant_revoked_at: Whole | null;
  readonly app_scopes: string;
  readonly app_uids: string;
  readonly app_generation: Whole;
  readonly app_deleted_at: Whole | null;
  readonly locale: string;
  readonly role: string | null;
  readonly status: string | null;
}

/** Token families as rows. */
export function familyRows({ query }: Session): FamilyRows {
  return {
    async holder(familyId) {
      // A living membership comes before the tombstones of earlier ones.
      const [row] = await query<HolderRow>(sql`
        SELECT f.id, f.client_id, f.account_id, f.space_id, f.scopes, f.generation, f.access_id, f.revoked_at,
          g.connector_uids AS grant_uids, g.revoked_at AS grant_revoked_at,
          p.scopes AS app_scopes, p.connector_uids AS app_uids, p.generation AS app_generation, p.deleted_at AS app_deleted_at,
          a.locale, m.role, m.status
        FROM oauth_family f JOIN oauth_grant g ON g.id = f.grant_id JOIN oauth_app p ON p.client_id = f.client_id
        JOIN account a ON a.id = f.account_id
        LEFT JOIN membership m ON m.space_id = f.space_id AND m.account_id = f.account_id
        WHERE f.id = ${familyId}
        ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1`);
      return row ? holderOf(row) : null;
    },
  };
}

const holderOf = (row: HolderRow): TokenHolder => ({
  familyId: row.id,
  clientId: row.client_id,
  accountId: row.account_id,
  spaceId: row.space_id,
  locale: row.locale,
  accessId: row.access_id,
  lives: row.revoked_at === null && row.grant_revoked_at === null && row.app_deleted_at === null,
  generation: Number(row.generation),
  appGeneration: Number(row.app_generation),
  scopes: both(row.scopes, row.app_scopes).filter(isScope),
  connectorUids: both(row.grant_uids, row.app_uids),
  member: row.role === null ? null : { role: row.role as Role, status: row.status as MemberStatus },
});

function both(one: string, other: string): string[] {
  const others = textsIn(other);
  return textsIn(one).filter((text) => others.includes(text));
}
