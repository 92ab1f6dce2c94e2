import { PrismaPg } from "@prisma/adapter-pg";
import { startPostgres } from "../scripts/scratch-postgres.ts";
import { buildMissingIndexes, indexesForLater } from "../src/store/index-builds.ts";
import { type MigrationTarget, migrate, migrationsOf } from "../src/store/migrate.ts";
import { MissingDependency } from "./databases.ts";
import type { Finding } from "./endurance/finding.ts";
import { roundSignificant } from "./statistics.ts";

/** The last migration of 0.1.0. */
const lastOfFirstRelease = "0011_assets";
const accounts = 50;

export interface Connection extends MigrationTarget {
  close(): Promise<void>;
}

export async function connect(url: string): Promise<Connection> {
  const adapter = await new PrismaPg({ connectionString: url, max: 1 }).connect();
  return {
    query: async (sql) => (await adapter.queryRaw({ sql, args: [], argTypes: [] })).rows,
    script: async (sql) => void (await adapter.executeRaw({ sql, args: [], argTypes: [] })),
    close: () => adapter.dispose(),
  };
}

/** A database as 0.1.0 left it, with tasks, and events of them. */
async function fill({ script }: Connection, tasks: number, events: number): Promise<void> {
  for (const { name, sql, checksum } of migrationsOf("postgresql").filter(
    (each) => each.name <= lastOfFirstRelease,
  )) {
    await script(sql);
    await script(`INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
      VALUES (gen_random_uuid(), '${checksum}', now(), '${name}', 1)`);
  }
  await script(`
    INSERT INTO task (id, account_id, space_id, type, title, status, share_visibility, hidden, agent_profile, locale, interactive,
      task_references, credits, created_at, updated_at, last_message_at, last_seq, last_timestamp, message_seq, answered_seq,
      consumed_seq, fence, claims, idle_claims, queued_at)
    SELECT 't' || i, 'a' || i % ${accounts}, 's' || i % ${accounts}, 'task', 'Task ' || i, 'stopped', 'private', false, 'agent', 'en', false,
      '[]', 0, i, i, i, 5, i, 1, 1, 1, 0, 0, 0, 0
    FROM generate_series(1, ${tasks}) AS i`);
  await script(`
    INSERT INTO task_event (task_id, seq, space_id, type, timestamp, payload)
    SELECT 't' || 1 + i % ${tasks}, 1 + i / ${tasks}, 's' || i % ${accounts}, 'tool_used', i, repeat('x', 300)
    FROM generate_series(0, ${events - 1}) AS i`);
  await script("VACUUM ANALYZE");
}

/** Repeats a statement until the signal; resolves with its longest time (milliseconds). */
async function longestOf(url: string, sql: () => string, signal: AbortSignal): Promise<number> {
  const connection = await connect(url);
  let longest = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    await connection.query(sql());
    longest = Math.max(longest, performance.now() - startedAt);
  }
  await connection.close();
  return longest;
}

/** Tables that another transaction can no longer write, or not even read, until this one ends. */
const lockedTables = `SELECT relation::regclass::text, max(mode) FROM pg_locks JOIN pg_class c ON c.oid = relation
  WHERE pid = pg_backend_pid() AND c.relkind = 'r' AND c.reltuples > 0 AND mode IN ('AccessExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock')
  GROUP BY relation`;

interface Lock {
  readonly table: string;
  /** The first migration that locks it, and its time. */
  readonly migration: string;
  readonly at: number;
}

/**
 * Runs all later migrations as a start does. Resolves with the time of each, with the locks, and with the
 * time to build indexes.
 */
async function migrateLater(url: string) {
  const connection = await connect(url);
  const steps: { readonly name: string; readonly ms: number }[] = [];
  const locks = new Map<string, Lock>();
  const names = migrationsOf("postgresql").map(({ name }) => name);
  await connection.script("BEGIN");
  const target = {
    query: connection.query,
    async script(sql: string) {
      const startedAt = performance.now();
      await connection.script(sql);
      const [, name] = /'(\d{4}_\w+)', 1\)/.exec(sql) ?? [];
      if (name !== undefined || sql.includes("CREATE TABLE IF NOT EXISTS _prisma_migrations")) return;
      const migration = names[names.indexOf(steps.at(-1)?.name ?? lastOfFirstRelease) + 1] ?? "";
      steps.push({ name: migration, ms: performance.now() - startedAt });
      for (const [table] of await connection.query(lockedTables))
        if (!locks.has(String(table)))
          locks.set(String(table), { table: String(table), migration, at: startedAt });
    },
  };
  await migrate("postgresql", target, undefined, await indexesForLater(target));
  await connection.script("COMMIT");
  const endedAt = performance.now();
  await buildMissingIndexes(connection);
  const indexesMs = performance.now() - endedAt;
  await connection.close();
  return { steps, indexesMs, locks: [...locks.values()].map((lock) => ({ ...lock, ms: endedAt - lock.at })) };
}

/**
 * Migrates a large database of 0.1.0 on PostgreSQL while others read and write it: how long each table is
 * locked.
 */
export async function runMigrations(
  { tasks, events }: { readonly tasks: number; readonly events: number },
  report: (finding: Finding) => void,
): Promise<void> {
  const server = await startPostgres({ fsync: true });
  if (server === undefined) throw new MissingDependency("PostgreSQL is not installed");
  try {
    await server.createDatabase("large");
    const url = server.url("large");
    const connection = await connect(url);
    await migrateNothing(connection);
    await fill(connection, tasks, events);
    await connection.close();
    const over = new AbortController();
    const any = () => Math.ceil(Math.random() * tasks);
    const load = [
      longestOf(
        url,
        () =>
          `SELECT id, title FROM task WHERE space_id = 's${any() % accounts}' ORDER BY created_at DESC LIMIT 20`,
        over.signal,
      ),
      longestOf(
        url,
        () => `SELECT payload FROM task_event WHERE task_id = 't${any()}' ORDER BY seq`,
        over.signal,
      ),
      longestOf(url, () => `UPDATE task SET updated_at = updated_at + 1 WHERE id = 't${any()}'`, over.signal),
    ];
    const { steps, indexesMs, locks } = await migrateLater(url);
    over.abort();
    const [list = 0, read = 0, write = 0] = (await Promise.all(load)).map(roundSignificant);
    for (const { name, ms } of steps)
      report({ figure: `migrations.${name}`, ours: roundSignificant(ms), unit: "ms", goal: 1_000 });
    for (const { table, migration, ms } of locks)
      report({
        figure: `migrations.lock.${table}`,
        ours: roundSignificant(ms / 1000),
        unit: "s",
        goal: 1,
        from: migration,
      });
    report({
      figure: "migrations.longest",
      ours: Math.max(list, read, write) / 1000,
      unit: "s",
      goal: 1,
      list_ms: list,
      read_ms: read,
      write_ms: write,
      indexes_s: roundSignificant(indexesMs / 1000),
    });
  } finally {
    await server.stop();
  }
}

/** Creates the table of applied migrations. */
const migrateNothing = ({ script }: Connection): Promise<void> =>
  script(`CREATE TABLE _prisma_migrations (id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ, started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0)`);
