import { knownScopes } from "../../core/accounts/caller.ts";
import type { AppRows, ClientRows, OAuthApp } from "../../core/oauth/app.ts";
import type { RegistrationRows } from "../../core/oauth/registration.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forUpdate, join, type Sql, sql } from "../statements.ts";
import { boolean, tables, textOrNull } from "../table.ts";

/** An app of no space has an empty one. */
const spaceOrNull = (spaceId: string): string | null => spaceId || null;

// A subquery, not a join: on SQLite every column of a join costs several times as much.
const digests = sql`
  (SELECT string_agg(s.digest, ' ') FROM oauth_secret s WHERE s.client_id = p.client_id AND s.revoked_at IS NULL)`;
const client = tables.oAuthApp
  .pick("clientId", "spaceId", "scopes", "confidentialOnly", "deviceAuthorization")
  .with({ deleted: boolean(sql`p.deleted_at IS NOT NULL`), secretDigests: textOrNull(digests) })
  .derive("spaceId", ["spaceId"], spaceOrNull)
  .derive("scopes", ["scopes"], knownScopes)
  .derive("secretDigests", ["secretDigests"], (texts) => texts?.split(" ") ?? []);

const origins = tables.oAuthAppOrigin;

/** Apps as rows, for the checks of the OAuth endpoints. */
export const clientRows = (session: Session): ClientRows => ({
  find: (clientId) =>
    client.row(session)(sql`SELECT ${client.of("p")} FROM oauth_app p WHERE p.client_id = ${clientId}`),
  async allowsOrigin(clientId, origin) {
    const rows = await origins.rows(session)(sql`
      SELECT ${origins.of("o")} FROM oauth_app_origin o
      WHERE o.origin = ${origin} ${clientId === null ? empty : sql`AND o.client_id = ${clientId}`}
        AND EXISTS (SELECT 1 FROM oauth_app p WHERE p.client_id = o.client_id AND p.deleted_at IS NULL)
      LIMIT 1`);
    return rows.length > 0;
  },
});

const { oAuthApp, oAuthAppOrigin, oAuthSecret } = tables;
const allowed = sql`(SELECT string_agg(o.origin, ' ') FROM oauth_app_origin o WHERE o.client_id = t.client_id)`;
const app = oAuthApp
  .pick(
    "clientId",
    "spaceId",
    "creatorId",
    "name",
    "description",
    "redirectUris",
    "homepageUrl",
    "webhookUrl",
    "scopes",
    "connectorUids",
    "skillIds",
    "confidentialOnly",
    "loopbackAnyPort",
    "deviceAuthorization",
    "serviceAccountId",
    "verified",
    "generation",
    "createdAt",
    "updatedAt",
  )
  .with({ allowedOrigins: textOrNull(allowed) })
  .derive("spaceId", ["spaceId"], spaceOrNull)
  .derive("scopes", ["scopes"], knownScopes)
  .derive("allowedOrigins", ["allowedOrigins"], (texts) => texts?.split(" ").toSorted() ?? []);
const denying = tables.space.pick("deniesUnverifiedClients");
const secret = oAuthSecret.pick("id", "clientId", "digest", "last4", "createdAt");
const apps = sql`SELECT ${app.of("t")} FROM oauth_app t`;

/** OAuth apps and their secrets as rows. */
export function appRows(session: Session): AppRows {
  const { dialect, execute } = session;
  const find = (clientId: string, lock: Sql) =>
    app.row(session)(sql`${apps} WHERE t.client_id = ${clientId} AND t.deleted_at IS NULL ${lock}`);
  return {
    async insert({ allowedOrigins: _, ...row }) {
      await execute(oAuthApp.insert({ ...row, spaceId: row.spaceId ?? "" }));
    },
    find: (clientId) => find(clientId, empty),
    async lock(clientId) {
      changeOf(session);
      return find(clientId, forUpdate(dialect, "t"));
    },
    list: (spaceId) =>
      app.rows(session)(sql`
        ${apps} WHERE t.space_id = ${spaceId} AND t.deleted_at IS NULL ORDER BY t.created_at DESC, t.client_id DESC`),
    listGranted: (accountId, spaceId) =>
      app.rows(session)(sql`
        ${apps} WHERE t.deleted_at IS NULL AND t.client_id IN (
          SELECT g.client_id FROM oauth_grant g
          WHERE g.space_id = ${spaceId} AND g.account_id = ${accountId} AND g.revoked_at IS NULL)`),
    async setOrigins(clientId, all) {
      await execute(sql`DELETE FROM oauth_app_origin WHERE client_id = ${clientId}`);
      for (const origin of all) await execute(oAuthAppOrigin.insert({ clientId, origin }));
    },
    async update({ clientId, spaceId: _space, allowedOrigins: _origins, ...changes }) {
      await execute(sql`
        UPDATE oauth_app SET ${join(oAuthApp.set(changes))} WHERE client_id = ${clientId} AND deleted_at IS NULL`);
    },
    async endService(accountId, spaceId) {
      await execute(sql`
        UPDATE oauth_app SET service_account_id = NULL WHERE space_id = ${spaceId} AND service_account_id = ${accountId}`);
    },
    async putDocument({ allowedOrigins: _, ...row }) {
      const { name, redirectUris, homepageUrl, scopes, updatedAt } = row;
      await execute(sql`
        ${oAuthApp.insert({ ...row, spaceId: "" })}
        ON CONFLICT (client_id) DO UPDATE SET ${join(oAuthApp.set({ name, redirectUris, homepageUrl, scopes, updatedAt }))}`);
      return (await find(row.clientId, empty)) as OAuthApp; // Written just now.
    },
    deniesUnverified: async (spaceId) =>
      (await denying.row(session)(sql`SELECT ${denying.of("s")} FROM space s WHERE s.id = ${spaceId}`))
        ?.deniesUnverifiedClients ?? false,
    async setDeniesUnverified(spaceId, denies) {
      await execute(
        sql`UPDATE space SET ${join(tables.space.set({ deniesUnverifiedClients: denies }))} WHERE id = ${spaceId}`,
      );
    },
    async remove(clientId, now) {
      await execute(
        sql`UPDATE oauth_app SET deleted_at = ${now} WHERE client_id = ${clientId} AND deleted_at IS NULL`,
      );
    },
    async insertSecret(row) {
      await execute(oAuthSecret.insert(row));
    },
    secrets: (clientId) =>
      secret.rows(session)(sql`
        SELECT ${secret.of("s")} FROM oauth_secret s WHERE s.client_id = ${clientId} AND s.revoked_at IS NULL
        ORDER BY s.created_at DESC, s.id DESC`),
    async revokeSecret(clientId, id, now) {
      const count = await execute(sql`
        UPDATE oauth_secret SET revoked_at = ${now} WHERE client_id = ${clientId} AND id = ${id} AND revoked_at IS NULL`);
      return count === 1;
    },
  };
}

const registered = oAuthApp.pick("registrationDigest");

export function registrationRows(session: Session): RegistrationRows {
  const { dialect, execute } = session;
  return {
    async lock() {
      changeOf(session);
      if (dialect === "postgresql") await execute(sql`LOCK TABLE oauth_app IN SHARE ROW EXCLUSIVE MODE`);
    },
    async insert({ allowedOrigins: _, ...row }, registrationDigest) {
      await execute(oAuthApp.insert({ ...row, spaceId: "", registrationDigest, unusedSince: row.createdAt }));
    },
    async keepUnused(newest) {
      await execute(sql`
        DELETE FROM oauth_app WHERE unused_since IS NOT NULL AND client_id NOT IN (
          SELECT t.client_id FROM oauth_app t WHERE t.unused_since IS NOT NULL ORDER BY t.unused_since DESC, t.client_id DESC LIMIT ${newest})`);
    },
    purge: (before) => execute(sql`DELETE FROM oauth_app WHERE unused_since < ${before}`),
    async digest(clientId) {
      const row = await registered.row(session)(sql`
        SELECT ${registered.of("t")} FROM oauth_app t WHERE t.client_id = ${clientId} AND t.deleted_at IS NULL`);
      return row?.registrationDigest ?? null;
    },
    async markUsed(clientId) {
      await execute(
        sql`UPDATE oauth_app SET unused_since = NULL WHERE client_id = ${clientId} AND unused_since IS NOT NULL`,
      );
    },
  };
}
