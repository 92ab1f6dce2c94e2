import { contentTypeOf } from "../../../../../core/files/filename.ts";
import { readCsv } from "./csv.ts";
import { readHtml } from "./html.ts";
import { readJson } from "./json.ts";
import { readPdf } from "./pdf.ts";
import type { Part, Reading, Source } from "./source.ts";
import { readText } from "./text.ts";

const readers: Readonly<Record<string, (source: Source, part: Part) => Promise<Reading>>> = {
  "text/csv": readCsv,
  "text/tab-separated-values": readCsv,
  "application/json": readJson,
  "application/pdf": readPdf,
  "text/html": readHtml,
  "application/xhtml+xml": readHtml,
};

/**
 * A part of a file as what it is: text, table, JSON, document or page.
 *
 * @throws Failure `invalid` for what cannot be read, in our words.
 */
export function readDocument(source: Source, part: Partial<Part> & Pick<Part, "signal">): Promise<Reading> {
  const reader = readers[source.contentType] ?? readers[contentTypeOf(source.filename)] ?? readText;
  return reader(source, { from: 0, pointer: "", ...part });
}
