import type { ConnectorRows } from "../../core/connectors/connector.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forUpdate, join, type Sql, sql } from "../statements.ts";
import { newestFirst, tables } from "../table.ts";

const { connector, connectorAuthorization, projectConnector } = tables;
const installed = connector.pick(
  "id",
  "spaceId",
  "accountId",
  "uid",
  "name",
  "description",
  "category",
  "type",
  "server",
  "credentials",
  "state",
  "isDefault",
  "tools",
  "toolsAt",
  "policy",
  "createdAt",
  "updatedAt",
);
const defaults = projectConnector.pick("uid");

export function connectorRows(session: Session): ConnectorRows {
  const { execute, dialect } = session;
  return {
    async insert(row) {
      await execute(connector.insert(row));
    },
    list: async (scope) => (await installed.rows(session)(listActive(visibleTo(scope)))).sort(newestFirst),
    find: (scope, id) => installed.row(session)(listActive(sql`id = ${id} AND ${visibleTo(scope)}`)),
    async lock(scope, id) {
      changeOf(session);
      return installed.row(session)(
        listActive(sql`id = ${id} AND ${visibleTo(scope)}`, forUpdate(dialect, "t")),
      );
    },
    async update(id, changes, sealed) {
      const guard = sealed === undefined ? empty : sql` AND credentials = ${sealed}`;
      const updated = sql`UPDATE connector SET ${join(connector.set(changes))} WHERE id = ${id} AND deleted_at IS NULL${guard}`;
      return (await execute(updated)) === 1;
    },
    async tombstone(id, now) {
      const blank = connector.set({ credentials: null, tools: [], server: { transport: "none" } });
      await execute(
        sql`UPDATE connector SET ${join(blank)}, deleted_at = ${now} WHERE id = ${id} AND deleted_at IS NULL`,
      );
      await execute(sql`DELETE FROM connector_authorization WHERE connector_id = ${id}`);
    },
    async insertAuthorization(authorization) {
      await execute(connectorAuthorization.insert(authorization));
    },
    takeAuthorization: (digest) =>
      connectorAuthorization.row(session)(sql`
      DELETE FROM connector_authorization WHERE digest = ${digest} RETURNING ${connectorAuthorization.of("connector_authorization")}`),
    purgeAuthorizations: (before) =>
      execute(sql`DELETE FROM connector_authorization WHERE expires_at < ${before}`),
    async defaultsOf(projectId) {
      const rows = await defaults.rows(session)(sql`
      SELECT ${defaults.of("d")} FROM project_connector d WHERE project_id = ${projectId} ORDER BY uid`);
      return rows.map(({ uid }) => uid);
    },
    async setDefaultsOf({ id: projectId, spaceId }, uids) {
      await execute(sql`DELETE FROM project_connector WHERE project_id = ${projectId}`);
      if (uids.length > 0)
        await execute(projectConnector.insertAll(uids.map((uid) => ({ projectId, uid, spaceId }))));
    },
  };
}

/** The connectors that are not deleted and meet a condition. */
const listActive = (condition: Sql, lock = empty): Sql => sql`
  SELECT ${installed.of("t")} FROM connector t WHERE ${condition} AND deleted_at IS NULL ${lock}`;

/** The account's own connectors, and those of the complete space. */
const visibleTo = ({ accountId, spaceId }: { readonly accountId: string; readonly spaceId: string }): Sql =>
  sql`space_id = ${spaceId} AND (account_id = ${accountId} OR account_id IS NULL)`;
