import sql, { empty, join, raw, type Sql } from "sql-template-tag";

/** An invalid call of the store: a mistake in this program, not a refusal. */
export class ProgrammingError extends Error {
  override readonly name = "ProgrammingError";
}

export type Dialect = "sqlite" | "postgresql";

export type Value = string | number | bigint | boolean | Uint8Array<ArrayBuffer> | null;

/**
 * A statement for both databases: SQLite's text, `sql`, has `?` for its values, PostgreSQL's, `text`, has
 * `$1`.
 */
export interface Statement {
  readonly sql: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs our own statements: on the connection of a change, or on a read-only one. */
export interface Statements {
  /** Rows by column name, as the driver returns them: `table.ts` reads them. */
  query(statement: Statement): Promise<unknown[]>;
  /** Returns the number of changed rows. */
  execute(statement: Statement): Promise<number>;
  /**
   * Runs a write that waits for no lock and whose answer no caller needs. In a change on PostgreSQL it is
   * only sent: if it fails, the next statement or the commit fails with its error.
   */
  write(statement: Statement): Promise<void>;
}

/** A driver's error of a statement. Its text may quote rows and belongs only in the process log. */
export class StatementFailure extends Error {
  /** SQLSTATE, SQLite's name of the error, or the system's code of a socket error. */
  readonly code: unknown;
  /** True if the database answered and refused; false if it could not be reached. */
  readonly answered: boolean;

  constructor(cause: unknown) {
    super("a statement failed", { cause });
    const fields = typeof cause === "object" && cause !== null ? cause : {};
    this.code = "code" in fields ? fields.code : undefined;
    // Answers of PostgreSQL have a severity.
    this.answered = "severity" in fields || String(this.code).startsWith("SQLITE_");
  }
}

/** Statements with their parameters: SQLite's text has `?` for them, PostgreSQL's has `$1`. */
export { empty, join, raw, type Sql, sql };

/** True if all conditions are true; an empty list is true. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`1 = 1` : join([...conditions], " AND ");

/**
 * `IN` a list of texts that may be long: one parameter, so that the statement is the same for every length.
 */
export const inTexts = (dialect: Dialect, texts: readonly string[]): Sql =>
  dialect === "sqlite"
    ? sql`IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`
    : sql`IN (SELECT json_array_elements_text(CAST(${JSON.stringify(texts)} AS json)))`;

/** Ascending or descending. */
export const direction = (order: "asc" | "desc"): Sql => (order === "asc" ? sql`ASC` : sql`DESC`);

/** Locks the rows that a query finds. SQLite has only one writer, which needs no row locks. */
export const forUpdate = (dialect: Dialect, of: "t" | "g"): Sql =>
  dialect === "sqlite" ? empty : sql`FOR UPDATE OF ${raw(of)}`;

/**
 * Keeps the row that a query finds from being changed until the transaction ends; other transactions can read
 * it and do the same.
 */
export const forShare = (dialect: Dialect): Sql => (dialect === "sqlite" ? empty : raw("FOR SHARE"));

/** Escapes a text for a LIKE pattern, so that it matches itself. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

/** Whether a text matches a LIKE pattern, ignoring case. */
export const likeIgnoringCase = (dialect: Dialect, text: Sql, pattern: string): Sql =>
  sql`${foldCase(dialect, text)} LIKE ${foldCase(dialect, sql`${pattern}`)} ESCAPE '\\'`;

/**
 * SQLite's `lower` handles only ASCII, so its connections define `fold_case`. PostgreSQL's `lower` depends on
 * the database's locale, which may also handle only ASCII, so ICU's collation is named.
 */
const foldCase = (dialect: Dialect, text: Sql): Sql =>
  dialect === "sqlite" ? sql`fold_case(${text})` : sql`lower(CAST(${text} AS text) COLLATE "und-x-icu")`;
