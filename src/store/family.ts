import type { MemberStatus, Role } from "../core/accounts/account.ts";
import type { FamilyRows, FamilyState, Rotation, TokenFamily, TokenHolder } from "../core/oauth/family.ts";
import { isScope } from "../core/oauth/scope.ts";
import { textsIn } from "./app.ts";
import type { Session } from "./session.ts";
import { insertInto, numberOf, sql, type Truth, truthOf, type Whole } from "./sql.ts";
import { type StandingRow, standingColumns, standingJoins, standingOf, standingOrder } from "./standing.ts";

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

interface FamilyRow extends StandingRow {
  readonly id: string;
  readonly client_id: string;
  readonly grant_id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly scopes: string;
  readonly generation: Whole;
  readonly challenge: string | null;
  readonly needs_secret: Truth;
  readonly access_id: string | null;
  readonly access_expires_at: Whole;
  readonly refresh_digest: string;
  readonly rotated_digest: string | null;
  readonly rotated_at: Whole | null;
  readonly rotated_from: string | null;
  readonly refresh_expires_at: Whole;
  readonly created_at: Whole;
  readonly revoked_at: Whole | null;
}

/** Token families as rows. What was single is decided by guarded updates: how many rows they changed. */
export function familyRows({ query, execute }: Session): FamilyRows {
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
    async insert(family) {
      await execute(insertInto("oauth_family", [columnsOf(family)]));
    },
    async state(familyId) {
      const [row] = await query<FamilyRow>(sql`
        SELECT f.id, f.client_id, f.grant_id, f.account_id, f.space_id, f.scopes, f.generation, f.challenge, f.needs_secret,
          f.access_id, f.access_expires_at, f.refresh_digest, f.rotated_digest, f.rotated_at, f.rotated_from,
          f.refresh_expires_at, f.created_at, f.revoked_at, ${standingColumns}
        FROM oauth_family f JOIN oauth_grant g ON g.id = f.grant_id ${standingJoins}
        WHERE f.id = ${familyId} ORDER BY ${standingOrder} LIMIT 1`);
      return row ? stateOf(row) : null;
    },
    async rotate(familyId, { digest, at, from }, next) {
      const count = await execute(sql`
        UPDATE oauth_family SET access_id = ${next.accessId}, access_expires_at = ${next.accessExpiresAt},
          refresh_digest = ${next.refreshDigest}, refresh_expires_at = ${next.refreshExpiresAt},
          rotated_digest = ${digest}, rotated_at = ${at}, rotated_from = ${from}
        WHERE id = ${familyId} AND refresh_digest = ${digest} AND revoked_at IS NULL`);
      return count === 1;
    },
    async revoke(familyId, now) {
      const count = await execute(sql`
        UPDATE oauth_family SET revoked_at = ${now}, access_id = NULL WHERE id = ${familyId} AND revoked_at IS NULL`);
      return count === 1;
    },
    async revokeAccess(familyId, accessId) {
      const count = await execute(sql`
        UPDATE oauth_family SET access_id = NULL WHERE id = ${familyId} AND access_id = ${accessId} AND revoked_at IS NULL`);
      return count === 1;
    },
    purge: (before) => execute(sql`DELETE FROM oauth_family WHERE refresh_expires_at < ${before} OR revoked_at < ${before}`),
  };
}

const columnsOf = ({ id, scopes, generation, challenge, ...family }: TokenFamily) => ({
  ...{ id, generation, challenge },
  client_id: family.clientId,
  grant_id: family.grantId,
  account_id: family.accountId,
  space_id: family.spaceId,
  scopes: JSON.stringify(scopes),
  needs_secret: family.needsSecret,
  access_id: family.accessId,
  access_expires_at: family.accessExpiresAt,
  refresh_digest: family.refreshDigest,
  refresh_expires_at: family.refreshExpiresAt,
  created_at: family.createdAt,
});

const stateOf = (row: FamilyRow): FamilyState => ({
  family: {
    id: row.id,
    clientId: row.client_id,
    grantId: row.grant_id,
    accountId: row.account_id,
    spaceId: row.space_id,
    scopes: textsIn(row.scopes).filter(isScope),
    generation: numberOf(row.generation),
    challenge: row.challenge,
    needsSecret: truthOf(row.needs_secret),
    accessId: row.access_id,
    accessExpiresAt: numberOf(row.access_expires_at),
    refreshDigest: row.refresh_digest,
    refreshExpiresAt: numberOf(row.refresh_expires_at),
    createdAt: numberOf(row.created_at),
  },
  rotation: rotationOf(row),
  revoked: row.revoked_at !== null,
  standing: standingOf(row),
});

function rotationOf({ rotated_digest: digest, rotated_at: at, rotated_from: from }: FamilyRow): Rotation | null {
  return digest === null || at === null ? null : { digest, at: numberOf(at), from: from ?? "" };
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
