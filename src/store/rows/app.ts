import type { AppRows, OAuthApp, OAuthSecret } from "../../core/oauth/app.ts";
import { isScope } from "../../core/oauth/scope.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import { changeOf, type Session } from "../session.ts";
import { numberOf, sql } from "../sql.ts";

const newestFirst = [{ createdAt: "desc" as const }, { clientId: "desc" as const }];

/** OAuth apps and their secrets as rows. */
export function appRows(session: Session): AppRows {
  const { db, dialect, query } = session;
  const find = async (clientId: string) => appOf(await db.oAuthApp.findFirst({ where: { clientId, deletedAt: null } }));
  return {
    async insert(app) {
      await db.oAuthApp.create({ data: columnsOf(app) });
    },
    find,
    async lock(clientId) {
      changeOf(session);
      if (dialect === "postgresql") await query(sql`SELECT client_id FROM oauth_app WHERE client_id = ${clientId} FOR UPDATE`);
      return find(clientId);
    },
    async list(spaceId) {
      const rows = await db.oAuthApp.findMany({ where: { spaceId, deletedAt: null }, orderBy: newestFirst });
      return rows.flatMap((row) => appOf(row) ?? []);
    },
    async update(app) {
      await db.oAuthApp.updateMany({ where: { clientId: app.clientId, deletedAt: null }, data: columnsOf(app) });
    },
    async remove(clientId, now) {
      await db.oAuthApp.updateMany({ where: { clientId, deletedAt: null }, data: { deletedAt: now } });
    },
    async insertSecret(secret) {
      await db.oAuthSecret.create({ data: secret });
    },
    async secrets(clientId) {
      const rows = await db.oAuthSecret.findMany({
        where: { clientId, revokedAt: null },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      });
      return rows.map(secretOf);
    },
    async revokeSecret(clientId, id, now) {
      const { count } = await db.oAuthSecret.updateMany({ where: { clientId, id, revokedAt: null }, data: { revokedAt: now } });
      return count === 1;
    },
  };
}

const columnsOf = ({ redirectUris, scopes, connectorUids, skillIds, ...app }: OAuthApp) => ({
  ...app,
  redirectUris: JSON.stringify(redirectUris),
  scopes: JSON.stringify(scopes),
  connectorUids: JSON.stringify(connectorUids),
  skillIds: JSON.stringify(skillIds),
});

function appOf(row: Rows.OAuthApp | null): OAuthApp | null {
  if (row === null) return null;
  const { deletedAt: _, ...app } = row;
  return {
    ...app,
    redirectUris: textsIn(row.redirectUris),
    scopes: textsIn(row.scopes).filter(isScope),
    connectorUids: textsIn(row.connectorUids),
    skillIds: textsIn(row.skillIds),
    createdAt: numberOf(row.createdAt),
    updatedAt: numberOf(row.updatedAt),
  };
}

const secretOf = ({ id, clientId, digest, last4, createdAt }: Rows.OAuthSecret): OAuthSecret => ({
  ...{ id, clientId, digest, last4 },
  createdAt: numberOf(createdAt),
});

/** A list that this program wrote as JSON. */
export const textsIn = (json: string): string[] => JSON.parse(json) as string[];
