import type { MemberStatus } from "../core/accounts/account.ts";
import { isScope } from "../core/oauth/scope.ts";
import type { Standing } from "../core/oauth/standing.ts";
import { textsIn } from "./app.ts";
import { numberOf, sql, type Whole } from "./sql.ts";

/** Grant, app and membership, beside whatever is joined with the grant as `g`. */
export interface StandingRow {
  readonly grant_revoked_at: Whole | null;
  readonly app_deleted_at: Whole | null;
  readonly app_generation: Whole;
  readonly app_scopes: string;
  readonly member_status: string | null;
  readonly member_team_id: string | null;
}

export const standingColumns = sql`
  g.revoked_at AS grant_revoked_at, p.deleted_at AS app_deleted_at, p.generation AS app_generation, p.scopes AS app_scopes,
  m.status AS member_status, m.team_id AS member_team_id`;

export const standingJoins = sql`
  JOIN oauth_app p ON p.client_id = g.client_id
  LEFT JOIN membership m ON m.space_id = g.space_id AND m.account_id = g.account_id`;

/** A living membership comes before the tombstones of earlier ones. */
export const standingOrder = sql`CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC`;

export const standingOf = (row: StandingRow): Standing => ({
  lives: row.grant_revoked_at === null && row.app_deleted_at === null,
  generation: numberOf(row.app_generation),
  scopes: textsIn(row.app_scopes).filter(isScope),
  member: row.member_status === null ? null : { status: row.member_status as MemberStatus, teamId: row.member_team_id ?? "" }, // written as such by this program
});
