import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import { isLocked } from "./driver-failure.ts";
import type { Dialect } from "./statements.ts";

/** A connection in a transaction, on which migrations run. */
export interface MigrationTarget {
  query(sql: string): Promise<readonly (readonly unknown[])[]>;
  /** Runs a script of many statements. */
  script(sql: string): Promise<void>;
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  /** The checksum that Prisma computes. */
  readonly checksum: string;
}

/** Prisma's table of applied migrations, so that `prisma migrate deploy` agrees with this runner. */
const migrationTables: Record<Dialect, string> = {
  sqlite: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
)`,
  postgresql: `CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                      VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum                VARCHAR(64) NOT NULL,
    finished_at             TIMESTAMPTZ,
    migration_name          VARCHAR(255) NOT NULL,
    logs                    TEXT,
    rolled_back_at          TIMESTAMPTZ,
    started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count     INTEGER NOT NULL DEFAULT 0
)`,
};

/** The time of a statement, as an SQL expression of each database. */
const nowOf: Record<Dialect, string> = {
  sqlite: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  postgresql: "now()",
};

/** How a database is migrated. */
export interface MigrateOptions {
  readonly ifMissing?: Error | undefined;
  /** Called for each migration, which is committed with the last one. */
  readonly applied?: ((name: string, seconds: number) => void) | undefined;
}

/**
 * Applies the missing migrations of a database, all in the transaction of `target`: if
 * the process dies before the commit, nothing changes.
 *
 * @param options `ifMissing` is thrown, without any change, for a database to which no migration was applied.
 * @param textOf the part of a migration's SQL that runs in the transaction.
 * @throws Failure `failed_precondition` when the database is newer than this program, or its
 * migrations are not this program's.
 */
export async function migrate(
  dialect: Dialect,
  target: MigrationTarget,
  { ifMissing, applied: report }: MigrateOptions = {},
  textOf: (sql: string) => string = (sql) => sql,
): Promise<void> {
  const known = migrationsOf(dialect);
  await target.script(migrationTables[dialect]);
  const applied = await appliedTo(target);
  if (ifMissing && applied.length === 0) throw ifMissing;
  check(known, applied);
  for (const { name, sql, checksum } of known.slice(applied.length)) {
    const startedAt = performance.now();
    await target.script(textOf(sql));
    await target.script(
      `INSERT INTO _prisma_migrations (id, checksum, started_at, finished_at, migration_name, applied_steps_count)
       VALUES ('${randomUUID()}', '${checksum}', ${nowOf[dialect]}, ${nowOf[dialect]}, '${name}', 1)`,
    );
    report?.(name, (performance.now() - startedAt) / 1_000);
  }
}

/** The maximum number of tries for a table in use, and the pause between two tries. */
const triesMax = 60;
const pauseMs = 500;

/** Migrates a database in use: repeats the complete work while a table that it changes is locked. */
export async function retryWhileInUse(work: () => Promise<void>, clock: Clock): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (!isLocked(thrown) || tries >= triesMax) throw thrown;
      await clock.sleep(pauseMs);
    }
  }
}

/** This program's migrations, oldest first. They are read once in a process. */
export function migrationsOf(dialect: Dialect): readonly Migration[] {
  const known = read.get(dialect) ?? readMigrations(dialect);
  read.set(dialect, known);
  return known;
}

const read = new Map<Dialect, readonly Migration[]>();

function readMigrations(dialect: Dialect): Migration[] {
  const folder = join(import.meta.dirname, "..", "..", "prisma", dialect, "migrations");
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries
    .map(({ name }) => ({ name, sql: readFileSync(join(folder, name, "migration.sql"), "utf8") }))
    .map(({ name, sql }) => ({ name, sql, checksum: createHash("sha256").update(sql).digest("hex") }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

interface Applied {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

async function appliedTo(target: MigrationTarget): Promise<Applied[]> {
  const rows = await target.query(
    "SELECT migration_name, checksum, finished_at IS NOT NULL FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name",
  );
  return rows.map(([name, checksum, finished]) => ({
    name: String(name),
    checksum: String(checksum),
    finished: Boolean(finished),
  }));
}

/** The applied migrations must be the first of the known migrations, in order. */
function check(known: readonly Migration[], applied: readonly Applied[]): void {
  for (const [index, { name, checksum, finished }] of applied.entries()) {
    const own = known[index];
    if (!own)
      throw refusal(`was migrated by a newer release (${name}): run that release, or restore a backup`);
    if (own.name !== name)
      throw refusal(`has the migration ${name} where this release has ${own.name}: ${notOfARelease}`);
    if (!finished)
      throw refusal(`has an unfinished migration ${name}: restore a backup, or see prisma migrate resolve`);
    if (own.checksum !== checksum) throw refusal(`has another ${name} than this release: ${notOfARelease}`);
  }
}

/** Released migrations never change, so no release has made such a database. */
const notOfARelease =
  "no release made this schema; run the version that made it, or restore a backup of a release (docs/operate/upgrading.md says more)";

const refusal = (why: string) => new Failure("failed_precondition", `the database ${why}`);
