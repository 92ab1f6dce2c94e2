import { once } from "node:events";
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Client } from "pg";
import type { Config } from "../../../src/config/config.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { isReplicaUnused, type ReplicaState } from "../../../src/core/installation/checks.ts";
import { unobserved } from "../../../src/core/observe.ts";
import { migrationsOf } from "../../../src/store/migrate.ts";
import { checkSameDatabase, findPooling, sharedSessions } from "../../../src/store/pooler.ts";
import { openReplica } from "../../../src/store/replica.ts";
import type { Statement } from "../../../src/store/statements.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

type DatabaseConfig = Pick<Config, "database" | "databaseUrl" | "poolerUrl" | "role">;

/** What is read of SQLite. */
interface SqliteFacts {
  readonly version: string;
  readonly journal: string;
  /** `ok`, or the first damage; null when the check took too long. */
  readonly check: string | null;
  /** The names of the applied migrations; null without the platform's tables. */
  readonly migrations: readonly string[] | null;
}

/** The check of a large file takes long and cannot be interrupted, so it is in a thread that can be ended. */
const sqliteThread = `
const { parentPort, workerData } = require("node:worker_threads");
const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync(workerData, { readOnly: true });
const one = (text) => Object.values(database.prepare(text).get() ?? {})[0];
const isOurs = one("SELECT count(*) FROM sqlite_schema WHERE name = '_prisma_migrations'") > 0;
const migrations = isOurs ? database.prepare("SELECT migration_name AS name FROM _prisma_migrations").all().map(({ name }) => name) : null;
const facts = { check: null, version: one("SELECT sqlite_version()"), journal: one("PRAGMA journal_mode"), migrations };
parentPort.postMessage(facts);
parentPort.postMessage({ ...facts, check: one("PRAGMA quick_check(1)") });
`;

/** Less than the time of all checks. */
const quickCheckMs = 8_000;

/** Reads a database of SQLite; after `checkMs` without the result of its check. */
export async function readSqlite(path: string, checkMs = quickCheckMs): Promise<SqliteFacts | undefined> {
  const thread = new Worker(sqliteThread, { eval: true, workerData: path, execArgv: ["--no-warnings"] });
  const timer = setTimeout(() => void thread.terminate(), checkMs);
  let facts: SqliteFacts | undefined;
  thread.on("message", (read: SqliteFacts) => {
    facts = read;
  });
  try {
    await once(thread, "exit");
    return facts;
  } finally {
    clearTimeout(timer);
  }
}

function schemaFinding(dialect: Config["database"], applied: readonly string[] | null): Finding {
  const known = migrationsOf(dialect).map(({ name }) => name);
  if (applied === null)
    return warn("the database has no tables of the platform yet", "Start a server, or run `atp migrate`.");
  const newer = applied.find((name) => !known.includes(name));
  if (newer !== undefined)
    return fail(
      `the database is of a newer release: it has the migration ${newer}`,
      "Use the release that migrated it, or a newer one.",
    );
  const missing = known.filter((name) => !applied.includes(name));
  if (missing.length > 0)
    return warn(
      `${missing.length} migrations are not applied yet`,
      "The next start of a server applies them, or `atp migrate`.",
    );
  return ok(`all ${known.length} migrations are applied`);
}

async function checkSqlite(databaseUrl: string): Promise<readonly Finding[]> {
  const path = databaseUrl.replace(/^file:/, "");
  if (!existsSync(path))
    return [warn(`there is no database in ${path} yet`, "The first start of a server creates it.")];
  const facts = await readSqlite(path);
  if (facts === undefined)
    return [
      fail(
        `${path} cannot be read in ${quickCheckMs / 1000} s`,
        "Check the disk, and that no program holds the file.",
      ),
    ];
  return [schemaFinding("sqlite", facts.migrations), ...judgeSqlite(facts)];
}

/** What the journal mode and the check of a file mean. */
export function judgeSqlite({
  version,
  journal,
  check,
}: Omit<SqliteFacts, "migrations">): readonly Finding[] {
  const findings: Finding[] = [];
  if (journal !== "wal")
    findings.push(warn(`the journal mode is ${journal}`, "Start a server: it sets the mode wal."));
  if (check === null)
    findings.push(
      warn("the file is too large to check it here", "Check it in a copy: sqlite3 COPY 'PRAGMA quick_check'"),
    );
  else if (check !== "ok")
    findings.push(
      fail(
        `the file is damaged: ${check}`,
        "Stop the server, keep the file, and restore the last backup (docs/operate/backup.md).",
      ),
    );
  return findings.length > 0 ? findings : [ok(`SQLite ${version}, journal mode wal, quick_check ok`)];
}

/** What is read of PostgreSQL. */
export interface PostgresFacts {
  readonly version: number;
  readonly maxConnections: number;
  readonly usedConnections: number;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  readonly encoding: string;
}

/** The connections that a process opens at most (docs/reference/configuration.md, DATABASE_URL). */
const connectionsOf = (role: Config["role"]): number => (role === "api" ? 20 : 24);
const leastVersion = 130_000;

/** What the settings of a PostgreSQL server mean for a process of this role. */
export function judgePostgres(facts: PostgresFacts, role: Config["role"]): readonly Finding[] {
  const findings: Finding[] = [];
  const add = (isWrong: boolean, finding: Finding) => void (isWrong && findings.push(finding));
  const durable =
    "Set it to on in postgresql.conf: otherwise a crash of the machine can lose or damage what was answered.";
  add(
    facts.version < leastVersion,
    fail(`PostgreSQL ${facts.version / 10_000} is too old`, "Use PostgreSQL 13 or newer."),
  );
  add(facts.fsync !== "on", fail(`fsync is ${facts.fsync}`, durable));
  add(facts.fullPageWrites !== "on", fail(`full_page_writes is ${facts.fullPageWrites}`, durable));
  add(facts.synchronousCommit === "off", fail("synchronous_commit is off", durable));
  add(
    facts.encoding !== "UTF8",
    fail(`the encoding of the database is ${facts.encoding}`, "Create the database with ENCODING 'UTF8'."),
  );
  const free = facts.maxConnections - facts.usedConnections;
  const needed = connectionsOf(role);
  const room = `${facts.usedConnections} of ${facts.maxConnections} connections are used, and a process opens up to ${needed}`;
  add(
    free < needed,
    warn(room, "Raise max_connections: 24 for each process, and some for backups and administrators."),
  );
  if (findings.length > 0) return findings;
  const version = Math.floor(facts.version / 10_000);
  return [ok(`PostgreSQL ${version}, fsync on, synchronous_commit ${facts.synchronousCommit}; ${room}`)];
}

const settingsQuery = `SELECT current_setting('server_version_num')::int AS "version",
  current_setting('max_connections')::int AS "maxConnections", current_setting('fsync') AS "fsync",
  current_setting('full_page_writes') AS "fullPageWrites", current_setting('synchronous_commit') AS "synchronousCommit",
  (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS "usedConnections",
  (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()) AS "encoding"`;

const migrationsTable = `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found`;

/** Runs `work` on one connection, which ends with the signal. */
export async function onPostgres<T>(
  databaseUrl: string,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: databaseUrl, application_name: "atp doctor" });
  // After the signal the connection is closed below a query.
  client.on("error", () => undefined);
  const end = () => void client.end().catch(() => undefined);
  signal.addEventListener("abort", end, { once: true });
  await client.connect();
  try {
    return await work(client);
  } finally {
    end();
  }
}

/** Poolers before PostgreSQL, and whether they fit the settings. */
async function poolerFindings({ databaseUrl, poolerUrl }: DatabaseConfig): Promise<readonly Finding[]> {
  const setting = poolerUrl === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL";
  const direct = await findPooling(databaseUrl);
  if (direct === "transaction")
    return [
      fail(sharedSessions(databaseUrl, setting), "docs/operate/scale.md has the settings for PgBouncer."),
    ];
  if (poolerUrl === null)
    return direct === "session" ? [ok("DATABASE_URL is behind a pooler of sessions")] : [];
  await checkSameDatabase(poolerUrl, databaseUrl);
  if ((await findPooling(poolerUrl)) === "transaction")
    return [ok("DATABASE_URL is behind a pooler of transactions")];
  const unused = "DATABASE_DIRECT_URL is set, and DATABASE_URL is not behind a pooler of transactions";
  return [
    warn(unused, "Remove DATABASE_DIRECT_URL: without it, statements are prepared once for each connection."),
  ];
}

async function checkPostgres(config: DatabaseConfig, signal: AbortSignal): Promise<readonly Finding[]> {
  return [...(await poolerFindings(config)), ...(await checkServer(config, signal))];
}

async function checkServer(
  { databaseUrl, role }: DatabaseConfig,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  return onPostgres(databaseUrl, signal, async (client) => {
    const { rows } = await client.query<PostgresFacts>(settingsQuery);
    const [{ found } = { found: false }] = (await client.query<{ found: boolean }>(migrationsTable)).rows;
    const applied = found
      ? (await client.query<{ name: string }>("SELECT migration_name AS name FROM _prisma_migrations")).rows
      : null;
    const schema = schemaFinding("postgresql", applied === null ? null : applied.map(({ name }) => name));
    return [schema, ...rows.flatMap((facts) => judgePostgres(facts, role))];
  });
}

export const database = (config: DatabaseConfig): Check => ({
  name: "database",
  advice:
    "Check DATABASE_URL, and that the database runs, accepts connections from this machine and answers.",
  run: (signal) =>
    config.database === "sqlite" ? checkSqlite(config.databaseUrl) : checkPostgres(config, signal),
});

/** The advice of a replica that is not used. */
const replicaAdvice =
  "Check DATABASE_READ_URL and the replication. Until then the primary runs the reads of many rows.";

/** What the state of a read replica means. The platform works without it. */
export function judgeReplica(state: ReplicaState): Finding {
  const { problem, secondsBehind } = state;
  if (problem !== null) return warn(`the replica ${problem}`, replicaAdvice);
  if (isReplicaUnused(state))
    return warn(`the replica is ${secondsBehind ?? "many"} s behind the primary`, replicaAdvice);
  return ok(`the replica is a standby of the primary, ${secondsBehind} s behind`);
}

export const replica = ({
  databaseUrl,
  databaseReadUrl,
}: Pick<Config, "databaseUrl" | "databaseReadUrl">): Check => ({
  name: "replica",
  advice: "Check DATABASE_URL: the replica is compared with its primary.",
  async run(signal) {
    if (databaseReadUrl === null) return [];
    return onPostgres(databaseUrl, signal, async (client) => {
      const primary = {
        query: async ({ text, values }: Statement) => (await client.query(text, [...values])).rows,
      };
      const replica = openReplica({
        readUrl: databaseReadUrl,
        primary,
        clock: systemClock,
        onStatement: undefined,
        observe: unobserved,
      });
      return [judgeReplica(await replica.state().finally(() => replica.close()))];
    });
  },
});

/**
 * Milliseconds by which the clock of PostgreSQL differs from ours: positive when it is ahead. Null for
 * SQLite, which has ours.
 */
export async function databaseClockSkew(
  { database: kind, databaseUrl }: Pick<Config, "database" | "databaseUrl">,
  now: () => number,
  signal: AbortSignal,
): Promise<number | null> {
  if (kind === "sqlite") return null;
  return onPostgres(databaseUrl, signal, async (client) => {
    const before = now();
    const { rows } = await client.query<{ ms: number }>(
      "SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms",
    );
    return (rows[0]?.ms ?? before) - (before + now()) / 2;
  });
}
