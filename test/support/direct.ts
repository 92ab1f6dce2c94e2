import { PrismaPg } from "@prisma/adapter-pg";
import { connectSqlite } from "../../src/store/sqlite-adapter.ts";
import type { TestDatabase } from "./database.ts";

/** Rows as the database has them, by column; whole numbers as text or number, as each driver gives them. */
export type DirectRow = Readonly<Record<string, unknown>>;

/** Runs one statement beside the store: for what no operation can see or do. */
export async function directly({ kind, url }: TestDatabase, sql: string): Promise<readonly DirectRow[]> {
  const connection =
    kind === "sqlite" ? await connectSqlite(url.replace(/^file:/, "")) : await new PrismaPg({ connectionString: url, max: 1 }).connect();
  try {
    const { columnNames, rows } = await connection.queryRaw({ sql, args: [], argTypes: [] });
    return rows.map((row) => Object.fromEntries(columnNames.map((name, i) => [name, row[i]])));
  } finally {
    await connection.dispose();
  }
}
