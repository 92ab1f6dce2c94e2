import type { RowKey, TransferRows } from "../../core/installation/transfer.ts";
import { type Job, jobKinds } from "../../core/processes/shared.ts";
import type { Session } from "../session.ts";
import { type Dialect, empty, join, ProgrammingError, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, type PlainTable, plainTables, text } from "../table.ts";

/** Rows of one statement, and its parameters: SQLite accepts 32,766. */
const rowsMax = 500;
const valuesMax = 30_000;

const job = computedShape({
  kind: text<Job["kind"]>(sql`kind`),
  key: text(sql`key`),
  runAt: integer(sql`run_at`),
});

/** All tables of the models, by their primary keys. */
export function transferRows(session: Session): TransferRows {
  return {
    async page(name, after, maxBytes) {
      const table = tableOf(name);
      const max = Math.min(rowsMax, Math.floor(valuesMax / Object.keys(table.columns).length));
      const size = sizesOf(table);
      const sizes = await size.rows(session)(sql`SELECT ${size.of("t")} ${inOrder(table, after, max)}`);
      if (sizes.length === 0) return { rows: [], last: null };
      const count = fitting(sizes, maxBytes);
      const rows = await table.rows(session)(sql`SELECT ${table.of("t")} ${inOrder(table, after, count)}`);
      const last = rows.at(-1);
      const isEnd = count === sizes.length && count < max;
      return {
        rows,
        last: isEnd || last === undefined ? null : table.key.map(([member]) => keyPart(last[member])),
      };
    },
    async insert(name, rows) {
      if (rows.length > 0) await session.execute(tableOf(name).insertAll(rows));
    },
    async clear(name) {
      await session.execute(sql`DELETE FROM ${raw(tableOf(name).name)}`);
    },
    jobs(after, max) {
      const later = after === null ? empty : sql`WHERE (kind, key) > (${after.kind}, ${after.key})`;
      return job.rows(session)(
        sql`SELECT ${job.of("j")} FROM (${waitingJobs[session.dialect]}) j ${later} ORDER BY kind, key LIMIT ${max}`,
      );
    },
  };
}

function tableOf(name: string): PlainTable {
  const table = plainTables.get(name);
  if (table === undefined) throw new ProgrammingError("not a table of the models");
  return table;
}

function keyPart(value: unknown): string | number {
  if (typeof value === "string" || typeof value === "number") return value;
  throw new ProgrammingError("a primary key has texts and integers only");
}

/** The rows after a key, in its order. */
function inOrder({ name, key }: PlainTable, after: RowKey | null, max: number): Sql {
  const columns = raw(key.map(([, column]) => `t.${column}`).join(", "));
  const later = after === null ? empty : sql`WHERE (${columns}) > (${join([...after])})`;
  return sql`FROM ${raw(name)} t ${later} ORDER BY ${columns} LIMIT ${max}`;
}

/** The bytes of texts, JSON and bytes in each row. */
function sizesOf({ columns }: PlainTable) {
  const sized = Object.values(columns).filter(
    ([, kind]) => kind === "text" || kind === "json" || kind === "bytes",
  );
  const lengths = sized.map(([column]) => `COALESCE(octet_length(t.${column}), 0)`);
  return computedShape({ bytes: integer(sql`CAST(${raw(lengths.join(" + ") || "0")} AS BIGINT)`) });
}

/** How many of the first rows have at most `maxBytes` together; at least 1. */
function fitting(sizes: readonly { readonly bytes: number }[], maxBytes: number): number {
  let total = 0;
  const over = sizes.findIndex(({ bytes }) => {
    total += bytes;
    return total > maxBytes;
  });
  return over === -1 ? sizes.length : Math.max(1, over);
}

/** SQLite's own table, or pg-boss's. A taken job is put again: the process that took it has ended. */
const waitingJobs: Record<Dialect, Sql> = {
  sqlite: sql`SELECT kind, key, run_at FROM job`,
  postgresql: sql`SELECT name AS kind, singleton_key AS key, CAST(EXTRACT(EPOCH FROM MIN(start_after)) * 1000 AS BIGINT) AS run_at
    FROM pgboss.job WHERE CAST(state AS text) IN ('created', 'retry', 'active') AND singleton_key IS NOT NULL
      AND name IN (${join([...jobKinds])}) GROUP BY name, singleton_key`,
};
