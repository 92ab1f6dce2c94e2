import { createHash } from "node:crypto";
import { Failure } from "../core/failure.ts";
import type { RowKey, StoredRow } from "../core/installation/transfer.ts";
import { databaseSettings } from "../core/processes/hold.ts";
import type { Job } from "../core/processes/shared.ts";
import type { Store, Tx } from "../core/store.ts";
import { plainTables } from "../store/table.ts";
import { type Progress, progressSetting } from "./move-progress.ts";

/** The most bytes of texts and bytes in one batch; a larger row is a separate batch. */
const batchBytes = 4 * 1024 * 1024;
const jobsMax = 500;
const tasksMax = 50;

/** Tables that are not copied: jobs are put again, and counters of calls end with their minute. */
const notCopied = new Set(["job", "rate_counter"]);

/** The tables to copy, each after those that it refers to. */
export const movedTables: readonly string[] = [...plainTables.keys()].filter((name) => !notCopied.has(name));

/**
 * The row as the target has it, with a separate search index; null for rows that belong to a database, not to
 * the installation.
 */
function movedRow(table: string, row: StoredRow): StoredRow | null {
  if (table === "task") return { ...row, indexedSeq: -1, textsBehind: true };
  return table === "setting" && [...databaseSettings, progressSetting].includes(String(row["key"]))
    ? null
    : row;
}

/** The next rows of a table, as the target has them. */
async function nextPage(tx: Tx, table: string, after: RowKey | null) {
  const { rows, last } = await tx.transfer.page(table, after, batchBytes);
  return { rows: rows.map((row) => movedRow(table, row)).filter((row) => row !== null), last };
}

/**
 * Copies the remaining rows of all tables. Each batch is one change with the progress, so that the next run
 * continues after it.
 */
export async function copyTables(
  source: Tx,
  target: Store,
  begun: Progress,
  onBatch: (progress: Progress) => void,
): Promise<Progress> {
  let progress = begun;
  for (const table of movedTables.filter((name) => !begun.tables.includes(name))) {
    for (let isCopied = false; !isCopied; ) {
      const { rows, last } = await nextPage(source, table, progress.after);
      isCopied = last === null;
      const next = {
        ...progress,
        after: last,
        rows: progress.rows + rows.length,
        tables: [...progress.tables, ...(isCopied ? [table] : [])],
      };
      const isFirst = progress.after === null;
      await target.change(async (tx) => {
        // The target has rows that migrations insert. The source has them too.
        if (isFirst && table !== "setting") await tx.transfer.clear(table);
        await tx.transfer.insert(table, rows);
        await tx.settings.put(progressSetting, JSON.stringify(next));
      });
      progress = next;
      onBatch(progress);
    }
  }
  return progress;
}

/** Builds the search index of the target, which is not a copy: each database has its own form of it. */
export async function indexTexts(target: Store): Promise<void> {
  for (;;) {
    const ids = await target.tasks.listNotIndexed(tasksMax);
    if (ids.length === 0) return;
    await target.change((tx) => tx.tasks.indexTexts(ids));
  }
}

/**
 * Puts the waiting jobs of the source into the queue of the target. A job that is there already stays one
 * job.
 */
export async function putJobs(source: Tx, target: Store): Promise<number> {
  let count = 0;
  for (let last: Job | null = null; ; ) {
    const jobs: readonly Job[] = await source.transfer.jobs(last, jobsMax);
    await target.change(async (tx) => {
      for (const job of jobs) await tx.jobs.put(job);
    });
    count += jobs.length;
    last = jobs.at(-1) ?? null;
    if (jobs.length < jobsMax) return count;
  }
}

/**
 * The number of rows of a table, and the sum of the SHA-256 sums of its rows modulo 2^256: the order of rows
 * does not matter.
 */
export interface TableSum {
  readonly rows: number;
  /** 64 lower-case hexadecimal digits. */
  readonly sum: string;
}

/**
 * Compares all rows of both databases.
 *
 * @throws Failure `failed_precondition` that names the first table that differs
 */
export async function compareTables(
  source: Tx,
  target: Tx,
  onTable: (table: string) => void,
): Promise<Readonly<Record<string, TableSum>>> {
  const sums: Record<string, TableSum> = {};
  for (const table of movedTables) {
    const [copied, original] = [await sumOf(target, table), await sumOf(source, table)];
    if (copied.rows !== original.rows || copied.sum !== original.sum) throw differs(table, original, copied);
    sums[table] = copied;
    onTable(table);
  }
  return sums;
}

const differs = (table: string, original: TableSum, copied: TableSum): Failure =>
  new Failure(
    "failed_precondition",
    `the table ${table} differs: ${original.rows} rows in the source, ${copied.rows} in the target. Something has written to one of them during the move: empty the target, and move again`,
  );

async function sumOf(tx: Tx, table: string): Promise<TableSum> {
  let [rows, sum] = [0, 0n];
  for (let after: RowKey | null | undefined; after !== null; ) {
    const page = await nextPage(tx, table, after ?? null);
    for (const row of page.rows)
      sum += BigInt(`0x${createHash("sha256").update(rowText(row)).digest("hex")}`);
    rows += page.rows.length;
    after = page.last;
  }
  return { rows, sum: BigInt.asUintN(256, sum).toString(16).padStart(64, "0") };
}

/** A row as text, in the order of the columns. Different rows have different texts. */
const rowText = (row: StoredRow): string =>
  JSON.stringify(
    Object.values(row).map((value) =>
      value instanceof Uint8Array ? [Buffer.from(value).toString("base64")] : value,
    ),
  );
