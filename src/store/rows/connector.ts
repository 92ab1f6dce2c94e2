import type {
  ConnectorChanges,
  ConnectorRows,
  ConnectorServer,
  ConnectorState,
  ConnectorTool,
  ConnectorType,
  InstalledConnector,
  ToolPolicy,
} from "../../core/connectors/connector.ts";
import { changeOf, type Session } from "../session.ts";
import {
  assignments,
  bytesOrNull,
  insertInto,
  join,
  numberOf,
  numberOrNull,
  type Row,
  raw,
  type Sql,
  sql,
  type Truth,
  truthOf,
  type Whole,
} from "../sql.ts";

interface ConnectorRow {
  readonly id: string;
  readonly space_id: string;
  readonly account_id: string | null;
  readonly uid: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly type: string;
  readonly server: string;
  readonly credentials: Uint8Array | null;
  readonly state: string;
  readonly is_default: Truth;
  readonly tools: string;
  readonly tools_at: Whole | null;
  readonly policy: string;
  readonly created_at: Whole;
  readonly updated_at: Whole;
}

interface AuthorizationRow {
  readonly digest: string;
  readonly connector_id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly sealed: Uint8Array;
  readonly expires_at: Whole;
}

const columns = sql`id, space_id, account_id, uid, name, description, category, type, server, credentials, state, is_default, tools,
  tools_at, policy, created_at, updated_at`;

/** Connectors as rows. */
export function connectorRows(session: Session): ConnectorRows {
  const { query, execute, dialect } = session;

  async function select(condition: Sql, lock = sql``): Promise<readonly InstalledConnector[]> {
    const rows = await query<ConnectorRow>(
      sql`SELECT ${columns} FROM connector WHERE ${condition} AND deleted_at IS NULL ORDER BY created_at DESC, id DESC ${lock}`,
    );
    return rows.map(connectorOf);
  }

  return {
    async insert(connector) {
      await execute(insertInto("connector", [columnsOf(connector)]));
    },
    list: (scope) => select(seenBy(scope)),
    async find(scope, id) {
      return (await select(sql`id = ${id} AND ${seenBy(scope)}`))[0] ?? null;
    },
    async lock(scope, id) {
      changeOf(session);
      const lock = raw(dialect === "postgresql" ? "FOR UPDATE" : "");
      return (await select(sql`id = ${id} AND ${seenBy(scope)}`, lock))[0] ?? null;
    },
    async update(id, changes, sealed) {
      const set = join(assignments(changesOf(changes)));
      const guard = sealed === undefined ? sql`` : sql` AND credentials = ${sealed}`;
      return (await execute(sql`UPDATE connector SET ${set} WHERE id = ${id} AND deleted_at IS NULL${guard}`)) === 1;
    },
    async bury(id, now) {
      await execute(
        sql`UPDATE connector SET credentials = NULL, tools = '[]', server = '{"transport":"none"}', deleted_at = ${now} WHERE id = ${id} AND deleted_at IS NULL`,
      );
      await execute(sql`DELETE FROM connector_authorization WHERE connector_id = ${id}`);
    },
    async insertAuthorization({ digest, connectorId, accountId, spaceId, sealed, expiresAt }) {
      const row = { digest, connector_id: connectorId, account_id: accountId, space_id: spaceId, sealed, expires_at: expiresAt };
      await execute(insertInto("connector_authorization", [row]));
    },
    async takeAuthorization(digest) {
      const [row] = await query<AuthorizationRow>(sql`DELETE FROM connector_authorization WHERE digest = ${digest}
        RETURNING digest, connector_id, account_id, space_id, sealed, expires_at`);
      return row
        ? {
            ...{ digest, connectorId: row.connector_id, accountId: row.account_id, spaceId: row.space_id },
            sealed: Uint8Array.from(row.sealed),
            expiresAt: numberOf(row.expires_at),
          }
        : null;
    },
    purgeAuthorizations: (before) => execute(sql`DELETE FROM connector_authorization WHERE expires_at < ${before}`),
    async defaultsOf(projectId) {
      const rows = await query<{ readonly uid: string }>(
        sql`SELECT uid FROM project_connector WHERE project_id = ${projectId} ORDER BY uid`,
      );
      return rows.map(({ uid }) => uid);
    },
    async setDefaultsOf({ id, spaceId }, uids) {
      await execute(sql`DELETE FROM project_connector WHERE project_id = ${id}`);
      if (uids.length === 0) return;
      await execute(
        insertInto(
          "project_connector",
          uids.map((uid) => ({ project_id: id, uid, space_id: spaceId })),
        ),
      );
    },
  };
}

/** Their own, and the whole space's. */
const seenBy = ({ accountId, spaceId }: { readonly accountId: string; readonly spaceId: string }): Sql =>
  sql`space_id = ${spaceId} AND (account_id = ${accountId} OR account_id IS NULL)`;

const columnsOf = (connector: InstalledConnector): Row => ({
  ...{ id: connector.id, space_id: connector.spaceId, account_id: connector.accountId, uid: connector.uid },
  ...{ name: connector.name, description: connector.description, category: connector.category, type: connector.type },
  server: JSON.stringify(connector.server),
  created_at: connector.createdAt,
  ...changesOf(connector),
});

function changesOf({ credentials, state, isDefault, tools, toolsAt, policy, updatedAt }: ConnectorChanges): Row {
  return {
    ...(credentials === undefined ? {} : { credentials }),
    ...(state === undefined ? {} : { state }),
    ...(isDefault === undefined ? {} : { is_default: isDefault }),
    ...(tools === undefined ? {} : { tools: JSON.stringify(tools) }),
    ...(toolsAt === undefined ? {} : { tools_at: toolsAt }),
    ...(policy === undefined ? {} : { policy: JSON.stringify(policy) }),
    ...(updatedAt === undefined ? {} : { updated_at: updatedAt }),
  };
}

/** Words and JSON were written as such by this program. */
const connectorOf = (row: ConnectorRow): InstalledConnector => ({
  id: row.id,
  spaceId: row.space_id,
  accountId: row.account_id,
  uid: row.uid,
  name: row.name,
  description: row.description,
  category: row.category,
  type: row.type as ConnectorType,
  server: JSON.parse(row.server) as ConnectorServer,
  credentials: bytesOrNull(row.credentials),
  state: row.state as ConnectorState,
  isDefault: truthOf(row.is_default),
  tools: JSON.parse(row.tools) as ConnectorTool[],
  toolsAt: numberOrNull(row.tools_at),
  policy: JSON.parse(row.policy) as Record<string, ToolPolicy>,
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
});
