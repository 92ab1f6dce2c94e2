import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { connectSqlite, driverOf, type SqliteConnection } from "../../src/store/sqlite-adapter.ts";
import { migrated } from "../../test/support/migrate.ts";
import { startPostgres } from "../scratch-postgres.ts";

/** The words of a plan, with the names of its indexes. */
type Plan = readonly string[];

/** How one database runs statements. */
export interface Plans {
  /**
   * The indexes that are not unique and do not begin with the column of a foreign key, which deletes of the
   * other table read.
   */
  readonly indexes: readonly string[];
  /** The plans of the statements that it knows. */
  readonly plans: readonly Plan[];
}

const planOf = (rows: unknown): Plan => JSON.stringify(rows).split(/\W+/);
const namesOf = (rows: readonly unknown[]): readonly string[] =>
  (rows as readonly { readonly name: string }[]).map(({ name }) => name);

/** SQLite without statistics chooses an index by its columns alone. */
export async function sqlitePlans(statements: readonly string[]): Promise<Plans> {
  const folder = mkdtempSync(join(tmpdir(), "plans-"));
  const path = join(folder, "atp.db");
  try {
    await migrated(`file:${path}`);
    const adapter = await connectSqlite(path);
    const driver = driverOf(adapter);
    const plans = statements.flatMap((sql) => explainOnSqlite(driver, sql));
    const indexes = driver
      .prepare(
        `SELECT m.name FROM sqlite_schema m JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name
         WHERE m.type = 'index' AND NOT l."unique" AND NOT EXISTS (
           SELECT 1 FROM pragma_foreign_key_list(m.tbl_name) f JOIN pragma_index_info(m.name) i ON i.name = f."from" AND i.seqno = 0)`,
      )
      .all();
    await adapter.dispose();
    return { indexes: namesOf(indexes), plans };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function explainOnSqlite(driver: SqliteConnection, sql: string): readonly Plan[] {
  try {
    const values = new Array<null>(sql.split("?").length - 1).fill(null);
    return [
      planOf(
        driver
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .safeIntegers(false)
          .all(...values),
      ),
    ];
  } catch {
    return [];
  }
}

/** PostgreSQL scans tables as a whole and sorts, where they are empty, unless that costs more. */
export async function postgresPlans(statements: readonly string[]): Promise<Plans> {
  const server = await startPostgres();
  if (server === undefined) throw new Error("PostgreSQL is not installed");
  try {
    await server.createDatabase("plans");
    await migrated(server.url("plans"));
    const client = new Client({ connectionString: server.url("plans") });
    await client.connect();
    await client.query(
      "SET enable_seqscan = off; SET enable_sort = off; SET plan_cache_mode = force_generic_plan",
    );
    const plans: Plan[] = [];
    for (const sql of statements) plans.push(...(await explainOnPostgres(client, sql)));
    const { rows } =
      await client.query(`SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisunique AND NOT EXISTS (
        SELECT 1 FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid = i.indrelid AND f.conkey[1] = i.indkey[0])`);
    await client.end();
    return { indexes: namesOf(rows), plans };
  } finally {
    await server.stop();
  }
}

async function explainOnPostgres(client: Client, sql: string): Promise<readonly Plan[]> {
  const [first = "", ...rest] = sql.split("?");
  const text = sql.includes("$1") ? sql : rest.reduce((all, part, at) => `${all}$${at + 1}${part}`, first);
  const last = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = last === 0 ? "" : `(${new Array(last).fill("NULL").join(", ")})`;
  try {
    await client.query(`PREPARE one AS ${text}`);
    return [planOf((await client.query(`EXPLAIN (FORMAT JSON) EXECUTE one${values}`)).rows)];
  } catch {
    return [];
  } finally {
    await client.query("DEALLOCATE ALL");
  }
}
