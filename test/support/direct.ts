import { PrismaPg } from "@prisma/adapter-pg";
import { connectSqlite } from "../../src/store/sqlite-adapter.ts";
import type { TestDatabase } from "./database.ts";

/** Rows as the database has them, by column; whole numbers as text or number, as each driver gives them. */
export type DirectRow = Readonly<Record<string, unknown>>;

/** Runs one statement beside the store: for what no operation can see or do. */
export async function directly(database: TestDatabase, sql: string): Promise<readonly DirectRow[]> {
  await using beside = await openBeside(database);
  return beside.query(sql);
}

/** A connection beside the store's, for many statements. */
export interface Beside extends AsyncDisposable {
  query(sql: string): Promise<readonly DirectRow[]>;
}

export async function openBeside({ kind, url }: TestDatabase): Promise<Beside> {
  const connection =
    kind === "sqlite" ? await connectSqlite(url.replace(/^file:/, "")) : await new PrismaPg({ connectionString: url, max: 1 }).connect();
  return {
    async query(sql) {
      const { columnNames, rows } = await connection.queryRaw({ sql, args: [], argTypes: [] });
      return rows.map((row) => Object.fromEntries(columnNames.map((name, i) => [name, row[i]])));
    },
    [Symbol.asyncDispose]: () => connection.dispose(),
  };
}
