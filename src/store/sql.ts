import { Prisma } from "../gen/prisma/sqlite/client.ts";
import type { Dialect } from "./session.ts";

/** A statement with its parameters: the same text for both databases. */
export type Sql = Prisma.Sql;
export const { sql, join, raw, empty } = Prisma;

/** What a parameter may be. */
export type Value = string | number | bigint | boolean | Uint8Array<ArrayBuffer> | null;

/** A row by its columns' names. */
export type Row = Readonly<Record<string, Value>>;

/** A whole number as the databases give it: 64 bits wide, or not. */
export type Whole = bigint | number;

/** A truth as the databases give it: SQLite has none, and says 0 or 1. */
export type Truth = boolean | Whole;

export const numberOf = (whole: Whole): number => Number(whole);
export const numberOrNull = (whole: Whole | null): number | null => (whole === null ? null : Number(whole));
/** Bytes as a driver gives them, in a buffer of their own. */
export const bytesOrNull = (bytes: Uint8Array | null): Uint8Array<ArrayBuffer> | null => (bytes === null ? null : Uint8Array.from(bytes));
export const truthOf = (truth: Truth): boolean => Boolean(Number(truth));

/** `INSERT INTO … VALUES …` of rows that all have the first one's columns. */
export function insertInto(table: string, rows: readonly Row[]): Sql {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${join(columns.map((column) => row[column] ?? null))})`);
  return sql`INSERT INTO ${raw(table)} (${raw(columns.join(", "))}) VALUES ${join(values)}`;
}

/** `a = ?, b = ?` of a row's columns. */
export const assignments = (row: Row): Sql[] => Object.entries(row).map(([column, value]) => sql`${raw(column)} = ${value}`);

/** Conditions that must all hold; a list without any holds. */
export const all = (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? sql`1 = 1` : join([...conditions], " AND "));

/** `IN` a list of texts that may be long: one parameter, so that the statement is the same for every length. */
export const memberOf = (dialect: Dialect, texts: readonly string[]): Sql =>
  dialect === "sqlite"
    ? sql`IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`
    : sql`IN (SELECT json_array_elements_text(CAST(${JSON.stringify(texts)} AS json)))`;

/** Ascending or descending. */
export const direction = (order: "asc" | "desc"): Sql => (order === "asc" ? sql`ASC` : sql`DESC`);

/** Locks the rows that a query finds. SQLite's writer is alone anyway. */
export const forUpdate = (dialect: Dialect, of: "t"): Sql => (dialect === "sqlite" ? empty : sql`FOR UPDATE OF ${raw(of)}`);

/** A text for a pattern of LIKE in which it stands for itself. */
export const literally = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

/** Whether a text is like a pattern, without regard to case. */
export const likeFolded = (dialect: Dialect, text: Sql, pattern: string): Sql =>
  sql`${folded(dialect, text)} LIKE ${folded(dialect, sql`${pattern}`)} ESCAPE '\\'`;

/**
 * SQLite's own `lower` knows ASCII only, so its connections have a function for it;
 * PostgreSQL's knows what the database's locale does, which may be as little, so ICU's is named.
 */
const folded = (dialect: Dialect, text: Sql): Sql =>
  dialect === "sqlite" ? sql`fold_case(${text})` : sql`lower(CAST(${text} AS text) COLLATE "und-x-icu")`;
