import type { JsonObject } from "../core/json.ts";

/** Pieces that are gathered to about this, in bytes: each costs its way through the streams. */
const pieceBytes = 64 * 1024;

/** A JSON array, a row on each line. A row may come in parts, the first of which begins it. */
export async function* jsonArray(rows: AsyncIterable<AsyncIterable<string>>): AsyncGenerator<string> {
  let before = "[\n";
  for await (const row of rows) {
    yield before;
    yield* row;
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}

/** The same text in larger pieces, as UTF-8. */
export async function* inBytes(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held = "";
  for await (const part of text) {
    held += part;
    if (held.length < pieceBytes) continue;
    yield Buffer.from(held);
    held = "";
  }
  if (held !== "") yield Buffer.from(held);
}

/** Rows that are there, each in one part. */
export async function* plainRows(rows: Iterable<object>): AsyncGenerator<AsyncIterable<string>> {
  for (const row of rows) yield one(JSON.stringify(row));
}

/** A row in one part. */
export async function* one(text: string): AsyncGenerator<string> {
  yield text;
}

/** A row that was written already, with more members. */
export const merged = (row: string, more: JsonObject): string => `${row.slice(0, -1)},${JSON.stringify(more).slice(1)}`;
