import { Readable } from "node:stream";
import type { Blobs } from "../../src/core/files/blob.ts";
import { schema } from "../../src/gen/prisma/tables.ts";
import { type DatabaseKind, rowsIn, runOn, type TestDatabase } from "../support/database.ts";

/** A person with a row in every table, and the space of these rows. */
export interface Owner {
  readonly accountId: string;
  readonly spaceId: string;
  readonly teamId: string;
}

type Table = keyof typeof schema;
const never = new AbortController().signal;

/** Tables that have no row of one person, or whose rows the tests insert themselves. */
const unfilled = new Set<string>([
  ...[
    "account",
    "space",
    "team",
    "membership",
    "auditEvent",
    "auditHead",
    "auditAnchor",
    "erasure",
    "legalHold",
    "blob",
  ],
  ...[
    "job",
    "node",
    "processKeys",
    "setting",
    "model",
    "rateCounter",
    "profileLabel",
    "signingKey",
    "webhookKey",
    "spentTicket",
  ],
]);
/** Rows of the team, which are not the person's. */
export const ofTeam = new Set<string>([
  ...[
    "oAuthApp",
    "oAuthAppOrigin",
    "oAuthSecret",
    "teamGroup",
    "agentProfile",
    "worker",
    "usageEntry",
    "usageRecord",
    "usageDay",
  ],
]);

/** Columns with a value that decides what a row is. */
const fixed: Readonly<Record<string, string>> = {
  "task.status": "stopped",
  "skill.ownerType": "personal",
  "export.kind": "data",
  "export.status": "completed",
  "file.status": "uploaded",
  "webhook.status": "active",
  "schedule.status": "active",
};
/** Columns that must be null. */
const isNull = new Set([
  ...["file.expiresAt", "file.deletedAt"],
  ...["webhook.clientId", "task.parentId", "task.rootId", "task.deletedAt", "skill.projectId", "task.nodeId"],
]);

/** Members that name another row. */
const references: Readonly<Record<string, Table>> = {
  ...({
    taskId: "task",
    webhookId: "webhook",
    deliveryId: "delivery",
    listenerId: "webhookListener",
    workerId: "worker",
  } as const),
  ...({
    checkpointId: "checkpoint",
    websiteId: "website",
    skillId: "skill",
    projectId: "project",
    memberId: "membership",
  } as const),
  ...({
    groupId: "teamGroup",
    clientId: "oAuthApp",
    connectorId: "connector",
    grantId: "oAuthGrant",
    eventId: "webhookEvent",
  } as const),
};

/** The text that the owner wrote in a column. */
export const markerOf = (prefix: string, table: string, member: string): string =>
  `${prefix}-wrote-${table}-${member}`;

function literal(
  kind: DatabaseKind,
  prefix: string,
  { accountId, spaceId }: Owner,
  table: Table,
  member: string,
  type: string,
): string {
  const text = (value: string) => `'${value}'`;
  const marker = markerOf(prefix, table, member);
  const known = fixed[`${table}.${member}`];
  if (known !== undefined) return text(known);
  if (isNull.has(`${table}.${member}`)) return "NULL";
  if (member === "accountId" || (table === "budget" && member === "subject")) return text(accountId);
  if (member === "spaceId") return text(spaceId);
  if (member === "blobId") return text(`${prefix}_blob_${table}`);
  const referenced =
    member === "id" || (table === "oAuthApp" && member === "clientId") ? table : references[member];
  if (referenced) return text(`${prefix}-${referenced}`);
  if (type === "text") return text(marker);
  if (type === "json") return text(JSON.stringify(marker));
  if (type === "bytes")
    return kind === "sqlite" ? `CAST('${marker}' AS BLOB)` : `convert_to('${marker}', 'UTF8')`;
  return type === "boolean" ? "false" : "1";
}

/**
 * Inserts a row of the owner into every table, with a marker in every text, and bytes with a marker for every
 * reference to bytes.
 */
export async function fill(
  { kind, url }: TestDatabase,
  blobs: Blobs,
  prefix: string,
  owner: Owner,
): Promise<void> {
  const statements: string[] = [];
  for (const table of Object.keys(schema) as Table[]) {
    if (unfilled.has(table)) continue;
    const { name, columns } = schema[table];
    const entries = Object.entries(columns).map(
      ([member, [column, type]]) => [column, literal(kind, prefix, owner, table, member, type)] as const,
    );
    statements.push(
      `INSERT INTO "${name}" (${entries.map(([column]) => column).join()}) VALUES (${entries.map(([, value]) => value).join()})`,
    );
    if (!("blobId" in columns)) continue;
    const id = `${prefix}_blob_${table}`;
    statements.push(
      `INSERT INTO blob (id, account_id, state, bytes, lease_until) VALUES ('${id}', '${owner.accountId}', 'kept', 1, 0)`,
    );
    await blobs.put(id, Readable.from([Buffer.from(markerOf(prefix, table, "bytes"))]), never);
  }
  const text = markerOf(prefix, "taskText", "words").replaceAll("-", "").toLowerCase();
  const words = kind === "sqlite" ? `' ${text} '` : `'${text}'::tsvector`;
  statements.push(
    `INSERT INTO task_text (task_id, seq, space_id, account_id, words) VALUES ('${prefix}-task', 0, '${owner.spaceId}', '${owner.accountId}', ${words})`,
  );
  await runOn(url, `${statements.join(";\n")};`);
}

/** The names of all tables of a database, without those of its engine and of the migrations. */
export async function tablesIn({ kind, url }: TestDatabase): Promise<readonly string[]> {
  const query =
    kind === "sqlite"
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'task_words%' ORDER BY name"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY name";
  return (await rowsIn(url, query))
    .map(({ name }) => String(name))
    .filter((name) => name !== "_prisma_migrations");
}

/** All rows by table, as sorted lines of JSON. */
export async function dump(database: TestDatabase): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const table of await tablesIn(database)) {
    const columns =
      database.kind === "postgresql" && table === "task_text"
        ? "task_id, seq, CAST(words AS text) AS words"
        : "*";
    const rows = await rowsIn(database.url, `SELECT ${columns} FROM "${table}"`);
    found[table] = rows.map((row) => JSON.stringify(row, readable)).toSorted();
  }
  return found;
}

/** Bytes as text, so that markers in them are found. */
const readable = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  // JSON.stringify has made it from a Buffer.
  const isBytes =
    typeof value === "object" &&
    value !== null &&
    "type" in value &&
    value.type === "Buffer" &&
    "data" in value;
  return isBytes && Array.isArray(value.data) ? Buffer.from(value.data).toString("latin1") : value;
};
