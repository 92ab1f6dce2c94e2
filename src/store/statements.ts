import type { Sql } from "./sql.ts";

/** A statement as Prisma's template makes it: SQLite's text has `?` for its values, PostgreSQL's has `$1`. */
export type Statement = Pick<Sql, "sql" | "text" | "values">;

/** Where statements of our own go: the connection of a change, or one that only reads. */
export interface Statements {
  /** Rows by their columns' names. */
  query<T>(statement: Statement): Promise<T[]>;
  /** Answers how many rows it changed. */
  execute(statement: Statement): Promise<number>;
}

/** What a driver said of a statement; its text may quote rows, and is for the process log alone. */
export class StatementFailure extends Error {
  /** SQLSTATE, SQLite's name of the error, or the system's name of a socket's. */
  readonly code: unknown;
  /** The database answered, and refused; otherwise it could not be asked. */
  readonly answered: boolean;

  constructor(cause: unknown) {
    super("a statement failed", { cause });
    const said = typeof cause === "object" && cause !== null ? cause : {};
    this.code = "code" in said ? said.code : undefined;
    // PostgreSQL's answers have a severity.
    this.answered = "severity" in said || String(this.code).startsWith("SQLITE_");
  }
}
