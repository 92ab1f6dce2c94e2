import { rowsIn } from "./database.ts";

/**
 * Without the tables of SQLite's search index: the driver cannot read them, and they hold only words of
 * `task_text`.
 */
const ofSqlite = `SELECT '"' || name || '"' AS name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'task\\_words%' ESCAPE '\\'`;
const ofPostgres = `SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name FROM information_schema.tables
  WHERE table_schema IN ('public', 'pgboss')`;

/** Every row of every table of a database as one text; bytes as Latin 1. */
export async function storedText(url: string): Promise<string> {
  const sqlite = url.startsWith("file:");
  const rows = [];
  for (const { name } of await rowsIn(url, sqlite ? ofSqlite : ofPostgres)) {
    // The driver cannot read PostgreSQL's search index, so that table is read as text.
    const columns = name === "public.task_text" ? "task_text::text AS stored" : "*";
    rows.push(...(await rowsIn(url, `SELECT ${columns} FROM ${name}`)));
  }
  // A Buffer would apply its own toJSON before a replacer runs.
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOf(value)]))),
  );
}

function textOf(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;
}
