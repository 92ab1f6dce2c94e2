import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { invalid } from "../../../../../core/failure.ts";
import { head } from "../../bounded.ts";
import type { Part, Reading, Source } from "./source.ts";
import { decoded, partMax } from "./text.ts";

const rowsMax = 200;
const cellMax = 2_000;
const columnsMax = 500;
const recordMax = 1_000_000;

/** Rows of a table. The first is its head, and comes with each part. */
export async function readCsv(source: Source, { from }: Part): Promise<Reading> {
  const text = decoded(source);
  const first = (await text.next()).value ?? "";
  const parser = parse({
    ...{ delimiter: delimiterOf(first), bom: true, skip_empty_lines: true, max_record_size: recordMax },
    ...{ relax_quotes: true, relax_column_count: true },
  });
  const feed = Readable.from(joined(first, text));
  feed.once("error", (cause) => parser.destroy(cause)).pipe(parser);
  try {
    return await rowsFrom(parser, from);
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    throw invalid("", `${JSON.stringify(source.filename)} is no table that can be read: a row is broken or too long`);
  } finally {
    feed.destroy();
    parser.destroy();
  }
}

async function rowsFrom(parser: AsyncIterable<unknown>, from: number): Promise<Reading> {
  let columns: readonly string[] | undefined;
  const rows: string[][] = [];
  let at = 0;
  let room = partMax;
  for await (const record of parser) {
    // Without options that say otherwise, a record is an array of texts.
    const row = (record as readonly string[]).slice(0, columnsMax).map((cell) => head(cell, cellMax));
    if (!columns) {
      columns = row;
      continue;
    }
    at += 1;
    if (at <= from) continue;
    room -= row.reduce((sum, cell) => sum + cell.length + 3, 0);
    if (rows.length > 0 && (rows.length >= rowsMax || room < 0)) return { columns: [...columns], rows, from, next: at - 1 };
    rows.push(row);
  }
  return { columns: [...(columns ?? [])], rows, from, next: null };
}

async function* joined(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield first;
  yield* rest;
}

/** What the first line is parted by most often. */
function delimiterOf(text: string): string {
  const line = text.slice(0, 10_000).split(/\r?\n/, 1)[0] ?? "";
  const count = (mark: string) => line.split(mark).length;
  return [",", ";", "\t", "|"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}
