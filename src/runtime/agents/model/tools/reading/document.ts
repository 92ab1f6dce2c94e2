import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { invalidArgument } from "../../../../../core/failure.ts";
import { contentTypeOf } from "../../../../../core/files/filename.ts";
import { head } from "../../tool.ts";
import { readHtml } from "./html.ts";
import { readJson } from "./json.ts";
import { readPdf } from "./pdf.ts";
import { decodeText, type Part, partMax, type Reading, readText, type Source } from "./text.ts";

const rowsMax = 200;
const cellMax = 2_000;
const columnsMax = 500;
const recordMax = 1_000_000;

/** Reads rows of a table. The first row is its header, and is part of each reading. */
async function readCsv(source: Source, { from, count }: Part): Promise<Reading> {
  const text = decodeText(source);
  const first = (await text.next()).value ?? "";
  const parser = parse({
    delimiter: delimiterOf(first),
    bom: true,
    skip_empty_lines: true,
    max_record_size: recordMax,
    relax_quotes: true,
    relax_column_count: true,
  });
  const feed = Readable.from(concat(first, text));
  feed.once("error", (cause) => parser.destroy(cause)).pipe(parser);
  try {
    return await rowsFrom(parser, from, Math.min(rowsMax, count));
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    throw invalidArgument(
      "",
      `${JSON.stringify(source.filename)} cannot be read as a table: a row is broken or too long`,
    );
  } finally {
    feed.destroy();
    parser.destroy();
  }
}

async function rowsFrom(parser: AsyncIterable<unknown>, from: number, max: number): Promise<Reading> {
  let columns: readonly string[] | undefined;
  const rows: string[][] = [];
  let at = 0;
  let charactersLeft = partMax;
  for await (const record of parser) {
    // With these options a record is an array of strings.
    const row = (record as readonly string[]).slice(0, columnsMax).map((cell) => head(cell, cellMax));
    if (!columns) {
      columns = row;
      continue;
    }
    at += 1;
    if (at <= from) continue;
    charactersLeft -= row.reduce((sum, cell) => sum + cell.length + 3, 0);
    if (rows.length > 0 && (rows.length >= max || charactersLeft < 0))
      return { columns: [...columns], rows, from, next: at - 1 };
    rows.push(row);
  }
  return { columns: [...(columns ?? [])], rows, from, next: null };
}

async function* concat(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield first;
  yield* rest;
}

/** The most frequent delimiter of the first line. */
function delimiterOf(text: string): string {
  const line = text.slice(0, 10_000).split(/\r?\n/, 1)[0] ?? "";
  const count = (mark: string) => line.split(mark).length;
  return [",", ";", "\t", "|"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

const readers: Readonly<Record<string, (source: Source, part: Part) => Promise<Reading>>> = {
  "text/csv": readCsv,
  "text/tab-separated-values": readCsv,
  "application/json": readJson,
  "application/pdf": readPdf,
  "text/html": readHtml,
  "application/xhtml+xml": readHtml,
};

/**
 * Reads a part of a file by its type: text, table, JSON, document or page.
 *
 * @throws Failure `invalid_argument` for a file that cannot be read; its text has nothing of the file's
 * content.
 */
export function readDocument(source: Source, part: Partial<Part> & Pick<Part, "signal">): Promise<Reading> {
  const reader = readers[source.contentType] ?? readers[contentTypeOf(source.filename)] ?? readText;
  return reader(source, { from: 0, count: Number.POSITIVE_INFINITY, pointer: "", ...part });
}
