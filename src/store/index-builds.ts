import { lazy } from "../async/lazy.ts";
import { type MigrationTarget, migrationsOf } from "./migrate.ts";

interface Index {
  readonly name: string;
  readonly table: string;
  /** The statement that creates it. */
  readonly sql: string;
}

const creations = /^CREATE (?:UNIQUE )?INDEX "(\w+)" ON "(\w+)"[^;]*;/gm;
const drops = /^DROP INDEX "(\w+)";/gm;

const indexesIn = (sql: string): Index[] =>
  [...sql.matchAll(creations)].map(([text, name = "", table = ""]) => ({ name, table, sql: text }));

/** The indexes of PostgreSQL that the migrations of this release leave, without those of constraints. */
export const declaredIndexes = lazy((): ReadonlyMap<string, Index> => {
  const declared = new Map<string, Index>();
  for (const { sql } of migrationsOf("postgresql")) {
    for (const [, name = ""] of sql.matchAll(drops)) declared.delete(name);
    for (const index of indexesIn(sql)) declared.set(index.name, index);
  }
  return declared;
});

/**
 * Leaves the indexes of tables that exist already out of a migration, because a table is locked while it gets
 * an index in a transaction. `buildMissingIndexes` builds them after the commit.
 */
export async function indexesForLater({ query }: MigrationTarget): Promise<(sql: string) => string> {
  const rows = await query(
    "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
  );
  const tables = new Set(rows.map(([name]) => name));
  const declared = declaredIndexes();
  return (sql) =>
    sql.replaceAll(creations, (text, name: string, table: string) =>
      tables.has(table) && declared.get(name)?.sql === text ? "" : text,
    );
}

/**
 * Builds each index of this release that the database does not have, or not whole, while others read and
 * write its table. Also builds what a start that ended early has left out.
 *
 * @param target a connection that is not in a transaction.
 */
export async function buildMissingIndexes({ query, script }: MigrationTarget): Promise<void> {
  const rows =
    await query(`SELECT c.relname::text, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = current_schema()::regnamespace`);
  const isValid = new Map(rows.map(([name, valid]) => [name, valid === true]));
  for (const { name, sql } of declaredIndexes().values()) {
    if (isValid.get(name)) continue;
    if (isValid.has(name)) await script(`DROP INDEX CONCURRENTLY "${name}"`);
    await script(sql.replace(" INDEX ", " INDEX CONCURRENTLY "));
  }
}
