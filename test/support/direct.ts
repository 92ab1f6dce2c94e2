import { PrismaPg } from "@prisma/adapter-pg";
import { connectSqlite } from "../../src/store/sqlite-adapter.ts";
import type { TestDatabase } from "./database.ts";

/** Rows in the database, by column; integers as text or number, depending on the driver. */
export type DirectRow = Readonly<Record<string, unknown>>;

/** Runs one statement outside the store: for data that no operation can read or write. */
export async function runDirectly(database: TestDatabase, sql: string): Promise<readonly DirectRow[]> {
  await using beside = await openDirect(database);
  return beside.query(sql);
}

/** A connection outside the store, for many statements. */
export interface DirectConnection extends AsyncDisposable {
  query(sql: string): Promise<readonly DirectRow[]>;
}

export async function openDirect({ kind, url }: TestDatabase): Promise<DirectConnection> {
  const connection =
    kind === "sqlite"
      ? await connectSqlite(url.replace(/^file:/, ""))
      : await new PrismaPg({ connectionString: url, max: 1 }).connect();
  return {
    async query(sql) {
      const { columnNames, rows } = await connection.queryRaw({ sql, args: [], argTypes: [] });
      return rows.map((row) => Object.fromEntries(columnNames.map((name, i) => [name, row[i]])));
    },
    [Symbol.asyncDispose]: () => connection.dispose(),
  };
}
