import type { MemberStatus, Role } from "../../core/accounts/account.ts";
import type { FamilyRows, FamilyState, Rotation, TokenFamily, TokenHolder } from "../../core/oauth/family.ts";
import { isScope } from "../../core/oauth/scope.ts";
import type { Session } from "../session.ts";
import { insertInto, numberOf, sql, type Truth, truthOf, type Whole } from "../sql.ts";
import { textsIn } from "./app.ts";
import { ofGrants } from "./grant.ts";
import { livingApp, livingAppOf, membership, type StandingRow, standingColumns, standingOf } from "./standing.ts";

interface HolderRow {
  readonly id: string;
  readonly client_id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly scopes: string;
  readonly generation: Whole;
  readonly access_id: string | null;
  readonly revoked_at: Whole | null;
  /** Null once the grant is revoked. */
  readonly grant_uids: string | null;
  /** As `livingApp` gives it. */
  readonly app: string | null;
  /** Null once the account is erased. */
  readonly locale: string | null;
  /** Role and status; null without a membership. */
  readonly membership: string | null;
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
  readonly grant_lives: Truth;
}

const app = livingApp("f");
const roleAndStatus = membership("f", "role", "status");
const standing = standingColumns("f");

/** Token families as rows. What was single is decided by guarded updates: how many rows they changed. */
export function familyRows({ query, execute }: Session): FamilyRows {
  return {
    async holder(familyId) {
      const [row] = await query<HolderRow>(sql`
        SELECT f.id, f.client_id, f.account_id, f.space_id, f.scopes, f.generation, f.access_id, f.revoked_at,
          (SELECT g.connector_uids FROM oauth_grant g WHERE g.id = f.grant_id AND g.revoked_at IS NULL) AS grant_uids,
          ${app} AS app, (SELECT a.locale FROM account a WHERE a.id = f.account_id) AS locale, ${roleAndStatus} AS membership
        FROM oauth_family f WHERE f.id = ${familyId}`);
      return row ? holderOf(row) : null;
    },
    async insert(family) {
      await execute(insertInto("oauth_family", [columnsOf(family)]));
    },
    async state(familyId) {
      const [row] = await query<FamilyRow>(sql`
        SELECT f.id, f.client_id, f.grant_id, f.account_id, f.space_id, f.scopes, f.generation, f.challenge, f.needs_secret,
          f.access_id, f.access_expires_at, f.refresh_digest, f.rotated_digest, f.rotated_at, f.rotated_from,
          f.refresh_expires_at, f.created_at, f.revoked_at, ${standing},
          EXISTS (SELECT 1 FROM oauth_grant g WHERE g.id = f.grant_id AND g.revoked_at IS NULL) AS grant_lives
        FROM oauth_family f WHERE f.id = ${familyId}`);
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
    async revokeOf(accountId, spaceId, now) {
      await execute(sql`
        UPDATE oauth_family SET revoked_at = ${now}, access_id = NULL WHERE ${ofGrants(accountId, spaceId)} AND revoked_at IS NULL`);
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
  standing: standingOf(row, truthOf(row.grant_lives)),
});

function rotationOf({ rotated_digest: digest, rotated_at: at, rotated_from: from }: FamilyRow): Rotation | null {
  return digest === null || at === null ? null : { digest, at: numberOf(at), from: from ?? "" };
}

/** Null once the account is erased. */
function holderOf(row: HolderRow): TokenHolder | null {
  if (row.locale === null) return null;
  const app = livingAppOf(row.app);
  const [role, status] = row.membership?.split(" ") ?? [];
  return {
    familyId: row.id,
    clientId: row.client_id,
    accountId: row.account_id,
    spaceId: row.space_id,
    locale: row.locale,
    accessId: row.access_id,
    lives: row.revoked_at === null && row.grant_uids !== null && app !== null,
    generation: numberOf(row.generation),
    appGeneration: app?.generation ?? 0,
    scopes: both(textsIn(row.scopes), app?.scopes ?? []).filter(isScope),
    connectorUids: both(textsIn(row.grant_uids ?? "[]"), app?.connectorUids ?? []),
    member: role === undefined ? null : { role: role as Role, status: status as MemberStatus }, // written as such by this program
  };
}

const both = (one: readonly string[], other: readonly string[]): string[] => one.filter((text) => other.includes(text));
