import type { Job } from "../processes/shared.ts";

/** A row of any table by member, as it is stored: JSON is its text. */
export type StoredRow = Readonly<Record<string, string | number | boolean | Uint8Array<ArrayBuffer> | null>>;

/** The primary key of a row: its values in the order of the columns. */
export type RowKey = readonly (string | number)[];

/** Rows of a table in the order of their keys. */
export interface RowPage {
  readonly rows: readonly StoredRow[];
  /** The key of the last row; null when no row follows it. */
  readonly last: RowKey | null;
}

/**
 * Complete rows of every table, for the move of an installation to another database. Tables have their names
 * in the database.
 */
export interface TransferRows {
  /**
   * The next rows after a key (null: the first), at least one, otherwise at most `maxBytes` of texts and
   * bytes.
   */
  page(table: string, after: RowKey | null, maxBytes: number): Promise<RowPage>;
  insert(table: string, rows: readonly StoredRow[]): Promise<void>;
  clear(table: string): Promise<void>;
  /** Jobs that wait or are taken, in the order of kind and key, after a job. */
  jobs(after: Pick<Job, "kind" | "key"> | null, max: number): Promise<readonly Job[]>;
}
