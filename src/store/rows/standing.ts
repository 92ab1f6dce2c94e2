import type { MemberStatus } from "../../core/accounts/account.ts";
import { isScope } from "../../core/oauth/scope.ts";
import type { Standing } from "../../core/oauth/standing.ts";
import { raw, type Sql, sql } from "../sql.ts";

/** App and membership, beside whatever stands on them: a grant `g` or a family `f`. */
export interface StandingRow {
  /** As `livingApp` gives it. */
  readonly app: string | null;
  /** Status and team; null without a membership. */
  readonly membership: string | null;
}

// Not by joins: on SQLite every column of a join costs several times as much.

/** Generation, scopes and connectors of the app as JSON; null once it is deleted. */
export const livingApp = (of: "g" | "f"): Sql => sql`
  (SELECT '[' || CAST(p.generation AS TEXT) || ',' || p.scopes || ',' || p.connector_uids || ']'
    FROM oauth_app p WHERE p.client_id = ${raw(of)}.client_id AND p.deleted_at IS NULL)`;

/** A delegated profile opens no more than an inactive one (contract/decisions.md 6). */
const shown: Readonly<Record<"role" | "status" | "team_id", Sql>> = {
  role: sql`m.role`,
  status: sql`CASE WHEN m.delegated_to IS NULL THEN m.status ELSE 'inactive' END`,
  team_id: sql`m.team_id`,
};

/** Two of the membership's words, a space between; null where there is none. A living one comes before the tombstones of earlier ones. */
export const membership = (of: "g" | "f", first: "role" | "status", second: "status" | "team_id"): Sql => sql`
  (SELECT ${shown[first]} || ' ' || ${shown[second]} FROM membership m
    WHERE m.space_id = ${raw(of)}.space_id AND m.account_id = ${raw(of)}.account_id
    ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1)`;

export const standingColumns = (of: "g" | "f"): Sql => sql`${livingApp(of)} AS app, ${membership(of, "status", "team_id")} AS membership`;

/** An app as `livingApp` gives it. */
export interface LivingApp {
  readonly generation: number;
  readonly scopes: readonly string[];
  readonly connectorUids: readonly string[];
}

export function livingAppOf(json: string | null): LivingApp | null {
  if (json === null) return null;
  const [generation, scopes, connectorUids] = JSON.parse(json) as [number, string[], string[]]; // written by the statement above
  return { generation, scopes, connectorUids };
}

/** @param grantLives whether the grant itself is not revoked. Of a deleted app nothing is told but that it opens nothing. */
export function standingOf(row: StandingRow, grantLives: boolean): Standing {
  const app = livingAppOf(row.app);
  const [status, teamId = ""] = row.membership?.split(" ") ?? [];
  return {
    lives: grantLives && app !== null,
    generation: app?.generation ?? 0,
    scopes: app?.scopes.filter(isScope) ?? [],
    member: status === undefined ? null : { status: status as MemberStatus, teamId }, // written as such by this program
  };
}
