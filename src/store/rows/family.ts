import { knownScopes } from "../../core/accounts/caller.ts";
import type { FamilyRows, FamilyState, TokenHolder } from "../../core/oauth/family.ts";
import type { Session } from "../session.ts";
import { join, sql } from "../statements.ts";
import { boolean, json, type RowOf, tables, textOrNull } from "../table.ts";
import { activeApp, authorizationColumns, authorizationStateOf, membership, ofGrants } from "./grant.ts";

const { oAuthFamily } = tables;

const holder = oAuthFamily
  .pick("id", "clientId", "accountId", "spaceId", "scopes", "generation", "accessId", "revokedAt", "service")
  .with({
    /** Null once the grant is revoked, and for an app that acts as itself. */
    grantUids: json<readonly string[] | null>(
      sql`(SELECT g.connector_uids FROM oauth_grant g WHERE g.id = f.grant_id AND g.revoked_at IS NULL)`,
    ),
    app: activeApp("f"),
    /** Null once the account is erased. */
    locale: textOrNull(sql`(SELECT a.locale FROM account a WHERE a.id = f.account_id)`),
    membership: membership("f", "role", "status"),
  });

const state = oAuthFamily
  .with({
    ...authorizationColumns("f"),
    grantLives: boolean(
      sql`f.service OR EXISTS (SELECT 1 FROM oauth_grant g WHERE g.id = f.grant_id AND g.revoked_at IS NULL)`,
    ),
  })
  .derive("scopes", ["scopes"], knownScopes);

/** Token families as rows. Single use is enforced by conditional updates: the row count decides. */
export function familyRows(session: Session): FamilyRows {
  const { execute } = session;
  return {
    async findHolder(familyId) {
      const row = await holder.row(session)(
        sql`SELECT ${holder.of("f")} FROM oauth_family f WHERE f.id = ${familyId}`,
      );
      return row && holderOf(row);
    },
    async insert(family) {
      await execute(oAuthFamily.insert(family));
    },
    async findState(familyId) {
      const row = await state.row(session)(
        sql`SELECT ${state.of("f")} FROM oauth_family f WHERE f.id = ${familyId}`,
      );
      return row && stateOf(row);
    },
    async rotate(familyId, { digest, at, from }, next) {
      const set = oAuthFamily.set({ ...next, rotatedDigest: digest, rotatedAt: at, rotatedFrom: from });
      const count = await execute(sql`
        UPDATE oauth_family SET ${join(set)}
        WHERE id = ${familyId} AND refresh_digest = ${digest} AND revoked_at IS NULL`);
      return count === 1;
    },
    async revoke(familyId, now) {
      const count = await execute(sql`
        UPDATE oauth_family SET revoked_at = ${now}, access_id = NULL WHERE id = ${familyId} AND revoked_at IS NULL`);
      return count === 1;
    },
    async revokeAll(accountId, spaceId, now) {
      await execute(sql`
        UPDATE oauth_family SET revoked_at = ${now}, access_id = NULL WHERE (${ofGrants(accountId, spaceId)} OR (service AND account_id = ${accountId} AND space_id = ${spaceId})) AND revoked_at IS NULL`);
    },
    async revokeService(clientId, now) {
      await execute(sql`
        UPDATE oauth_family SET revoked_at = ${now}, access_id = NULL WHERE client_id = ${clientId} AND service AND revoked_at IS NULL`);
    },
    async revokeAccess(familyId, accessId) {
      const count = await execute(sql`
        UPDATE oauth_family SET access_id = NULL WHERE id = ${familyId} AND access_id = ${accessId} AND revoked_at IS NULL`);
      return count === 1;
    },
    purge: (before) =>
      execute(sql`DELETE FROM oauth_family WHERE refresh_expires_at < ${before} OR revoked_at < ${before}`),
  };
}

function stateOf(row: RowOf<typeof state>): FamilyState {
  const { app, membership, grantLives, rotatedDigest, rotatedAt, rotatedFrom, revokedAt, ...family } = row;
  return {
    family,
    rotation:
      rotatedDigest === null || rotatedAt === null
        ? null
        : { digest: rotatedDigest, at: rotatedAt, from: rotatedFrom ?? "" },
    revoked: revokedAt !== null,
    authorization: authorizationStateOf(app, membership, grantLives),
  };
}

/** Null once the account is erased. */
function holderOf({
  app,
  locale,
  membership,
  grantUids,
  revokedAt,
  ...family
}: RowOf<typeof holder>): TokenHolder | null {
  if (locale === null) return null;
  const [appGeneration, appScopes, appUids] = app ?? [0, [], []];
  return {
    familyId: family.id,
    clientId: family.clientId,
    accountId: family.accountId,
    spaceId: family.spaceId,
    locale,
    accessId: family.accessId,
    service: family.service,
    isActive: revokedAt === null && (family.service || grantUids !== null) && app !== null,
    generation: family.generation,
    appGeneration,
    scopes: knownScopes(intersect(family.scopes, appScopes)),
    connectorUids: intersect(grantUids ?? [], appUids),
    member: membership && { role: membership[0] || null, status: membership[1] },
  };
}

const intersect = (one: readonly string[], other: readonly string[]): string[] =>
  one.filter((text) => other.includes(text));
