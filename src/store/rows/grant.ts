import type { MemberStatus, Role } from "../../core/accounts/account.ts";
import { isScope, knownScopes } from "../../core/accounts/caller.ts";
import { accessMs } from "../../core/oauth/access-token.ts";
import type { CodeRows } from "../../core/oauth/code.ts";
import type { AuthorizationState } from "../../core/oauth/family.ts";
import type { GrantKey, GrantRows } from "../../core/oauth/grant.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forUpdate, join, raw, type Sql, sql } from "../statements.ts";
import {
  boolean,
  type Computed,
  computedShape,
  countRows,
  integer,
  integerOrNull,
  json,
  tables,
  text,
} from "../table.ts";
import { displayName } from "./usage.ts";

// Subqueries, not joins: on SQLite every column of a join costs several times as much.

/** An app that is not deleted: generation, scopes, connectors. */
export type ActiveApp = readonly [
  generation: number,
  scopes: readonly string[],
  connectorUids: readonly string[],
];

/**
 * The app of a grant `g` or a family `f`; null once it is deleted, and for an unverified client where the
 * space forbids those.
 */
export const activeApp = (of: "g" | "f"): Computed<ActiveApp | null> =>
  json(sql`
  (SELECT '[' || CAST(p.generation AS TEXT) || ',' || p.scopes || ',' || p.connector_uids || ']'
    FROM oauth_app p WHERE p.client_id = ${raw(of)}.client_id AND p.deleted_at IS NULL AND (p.verified
      OR NOT EXISTS (SELECT 1 FROM space s WHERE s.id = ${raw(of)}.space_id AND s.denies_unverified_clients)))`);

/** A delegated profile grants no more access than an inactive one (spec/decisions.md 6). */
const membershipColumns: Readonly<Record<"role" | "status" | "teamId", Sql>> = {
  role: sql`m.role`,
  status: sql`CASE WHEN m.delegated_to IS NULL THEN m.status ELSE 'inactive' END`,
  teamId: sql`m.team_id`,
};

/**
 * The account of a personal space acts in it as an active member without a role or a team; of a deleted
 * account nothing is left.
 */
const personalColumns: Readonly<Record<keyof typeof membershipColumns, Sql>> = {
  role: sql`''`,
  status: sql`'active'`,
  teamId: sql`''`,
};

interface MembershipFacts {
  /** Empty in a personal space, like `teamId`. */
  readonly role: Role | "";
  readonly status: MemberStatus;
  readonly teamId: string;
}

/**
 * Two facts of the account's membership, or of its personal space; null without one. An active membership
 * sorts before the tombstones of earlier ones.
 */
export const membership = <F extends keyof MembershipFacts, S extends keyof MembershipFacts>(
  of: "g" | "f",
  first: F,
  second: S,
): Computed<readonly [MembershipFacts[F], MembershipFacts[S]] | null> =>
  json(sql`
  COALESCE((SELECT '["' || ${membershipColumns[first]} || '","' || ${membershipColumns[second]} || '"]' FROM membership m
    WHERE m.space_id = ${raw(of)}.space_id AND m.account_id = ${raw(of)}.account_id
    ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC LIMIT 1),
  (SELECT '["' || ${personalColumns[first]} || '","' || ${personalColumns[second]} || '"]' FROM space c
    WHERE c.id = ${raw(of)}.space_id AND c.account_id = ${raw(of)}.account_id
      AND EXISTS (SELECT 1 FROM account a WHERE a.id = c.account_id)))`);

/** App and membership of a grant `g` or a family `f`. */
export const authorizationColumns = (of: "g" | "f") => ({
  app: activeApp(of),
  membership: membership(of, "status", "teamId"),
});

/** The state for a deleted app only shows that it grants no access. */
export const authorizationStateOf = (
  app: ActiveApp | null,
  membership: readonly [MemberStatus, string] | null,
  grantIsActive: boolean,
): AuthorizationState => ({
  isActive: grantIsActive && app !== null,
  generation: app?.[0] ?? 0,
  scopes: app?.[1].filter(isScope) ?? [],
  member: membership && { status: membership[0], teamId: membership[1] },
});

const { oAuthGrant } = tables;
const grant = oAuthGrant
  .pick(
    "id",
    "accountId",
    "spaceId",
    "clientId",
    "scopes",
    "connectorUids",
    "generation",
    "createdAt",
    "updatedAt",
  )
  .derive("scopes", ["scopes"], knownScopes);
const standing = computedShape({ lives: boolean(sql`g.revoked_at IS NULL`), ...authorizationColumns("g") });
/** When the app of a grant `g` last got an access token. */
const usedAt = integerOrNull(sql`
  (SELECT MAX(f.access_expires_at) - ${raw(String(accessMs))} FROM oauth_family f WHERE f.grant_id = g.id AND f.revoked_at IS NULL)`);
const use = computedShape({
  id: text(sql`g.id`),
  usedAt,
  credits: integer(sql`CAST(COALESCE(c.credits, 0) AS BIGINT)`),
});
const user = computedShape({
  id: text(sql`g.id`),
  accountId: text(sql`g.account_id`),
  createdAt: integer(sql`g.created_at`),
  usedAt,
  name: text(displayName),
});
/** The active grants of active members to an app. */
const usersOf = (clientId: string): Sql => sql`
  FROM oauth_grant g JOIN membership m
    ON m.space_id = g.space_id AND m.account_id = g.account_id AND m.status = 'active' AND m.delegated_to IS NULL
  WHERE g.client_id = ${clientId} AND g.revoked_at IS NULL`;
const grants = sql`SELECT ${grant.of("g")} FROM oauth_grant g`;

/** Grants of users to apps as rows. */
export function grantRows(session: Session): GrantRows {
  const { dialect, execute } = session;
  const first = grant.row(session);
  const lock: GrantRows["lock"] = async (requested) => {
    changeOf(session);
    // The insert does nothing if the row exists. PostgreSQL waits for the change that wrote it.
    await execute(sql`${oAuthGrant.insert(requested)} ON CONFLICT DO NOTHING`);
    // Null when the existing row was revoked in the meantime: then another one can be inserted.
    return (
      (await first(sql`${grants} WHERE ${isActive(requested)} ${forUpdate(dialect, "g")}`)) ?? lock(requested)
    );
  };
  return {
    find: (key) => first(sql`${grants} WHERE ${isActive(key)}`),
    lock,
    byId: (id) => first(sql`${grants} WHERE g.id = ${id} AND g.revoked_at IS NULL`),
    async findState(id) {
      const row = await standing.row(session)(
        sql`SELECT ${standing.of("g")} FROM oauth_grant g WHERE g.id = ${id}`,
      );
      return row && authorizationStateOf(row.app, row.membership, row.lives);
    },
    list: (accountId, spaceId) =>
      grant.rows(session)(sql`
        ${grants} WHERE g.space_id = ${spaceId} AND g.account_id = ${accountId} AND g.revoked_at IS NULL
        ORDER BY g.created_at DESC, g.id DESC`),
    async uses(accountId, spaceId, since) {
      const rows = await use.rows(session)(sql`
        WITH spent (client_id, credits) AS (
          SELECT client_id, -SUM(credits) FROM usage_entry
          WHERE space_id = ${spaceId} AND account_id = ${accountId} AND at >= ${since} AND client_id IS NOT NULL GROUP BY client_id)
        SELECT ${use.of("g")} FROM oauth_grant g LEFT JOIN spent c ON c.client_id = g.client_id
        WHERE g.space_id = ${spaceId} AND g.account_id = ${accountId} AND g.revoked_at IS NULL`);
      return new Map(rows.map(({ id, ...each }) => [id, each]));
    },
    users: (clientId, { limit, after }) =>
      user.rows(session)(sql`
        SELECT ${user.of("g")} ${usersOf(clientId)}
        ${after ? sql`AND (g.created_at, g.id) < (${after.value}, ${after.id})` : empty}
        ORDER BY g.created_at DESC, g.id DESC LIMIT ${limit}`),
    countUsers: (clientId) => countRows(session, usersOf(clientId)),
    async update({ id, scopes, connectorUids, generation, updatedAt }) {
      const set = oAuthGrant.set({ scopes, connectorUids, generation, updatedAt });
      await execute(sql`UPDATE oauth_grant SET ${join(set)} WHERE id = ${id} AND revoked_at IS NULL`);
    },
    revoke: async (id, now) =>
      (await execute(
        sql`UPDATE oauth_grant SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`,
      )) === 1,
    revokeAll: (accountId, spaceId, now) =>
      execute(sql`
        UPDATE oauth_grant SET revoked_at = ${now}
        WHERE space_id = ${spaceId} AND account_id = ${accountId} AND revoked_at IS NULL`),
  };
}

const isActive = ({ accountId, spaceId, clientId }: GrantKey): Sql =>
  sql`g.space_id = ${spaceId} AND g.account_id = ${accountId} AND g.client_id = ${clientId} AND g.revoked_at IS NULL`;

/** Codes and tokens of an account in a space. Those of revoked grants are already invalid. */
export const ofGrants = (accountId: string, spaceId: string): Sql => sql`
  grant_id IN (SELECT g.id FROM oauth_grant g WHERE g.space_id = ${spaceId} AND g.account_id = ${accountId} AND g.revoked_at IS NULL)`;

const code = tables.oAuthCode.derive("scopes", ["scopes"], knownScopes);

export function codeRows(session: Session): CodeRows {
  const { execute } = session;
  return {
    async insert(issued) {
      await execute(tables.oAuthCode.insert(issued));
    },
    find: (digest) =>
      code.row(session)(sql`SELECT ${code.of("oauth_code")} FROM oauth_code WHERE digest = ${digest}`),
    async use(digest, familyId, now) {
      const count = await execute(sql`
        UPDATE oauth_code SET used_at = ${now}, family_id = ${familyId} WHERE digest = ${digest} AND used_at IS NULL`);
      return count === 1;
    },
    async useUpAll(accountId, spaceId, now) {
      await execute(
        sql`UPDATE oauth_code SET used_at = ${now} WHERE ${ofGrants(accountId, spaceId)} AND used_at IS NULL`,
      );
    },
    purge: (before) => execute(sql`DELETE FROM oauth_code WHERE expires_at < ${before}`),
  };
}
