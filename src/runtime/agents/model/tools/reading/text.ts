import { invalid } from "../../../../../core/failure.ts";
import { head } from "../../bounded.ts";
import { charsetOf, sniffBytes } from "./charset.ts";
import type { Part, Reading, Source } from "./source.ts";

/** Characters in one part. */
export const partMax = 20_000;

/** Bytes as text, piece by piece. @throws Failure `invalid` for what is no text. */
export async function* decoded({ filename, read }: Pick<Source, "filename" | "read">): AsyncGenerator<string, void, void> {
  const bytes = withBeginning(read());
  const { value: beginning = new Uint8Array() } = await bytes.next();
  const charset = charsetOf(beginning.subarray(0, sniffBytes));
  if (charset === null) throw invalid("", `${JSON.stringify(filename)} is no text, and of no other kind that can be read here`);
  const decoder = new TextDecoder(charset);
  yield decoder.decode(beginning, { stream: true });
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** The same bytes, the first piece large enough to tell what they are. */
async function* withBeginning(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let waiting: Uint8Array[] | undefined = [];
  for await (const chunk of bytes) {
    if (!waiting) yield chunk;
    else if (waiting.push(chunk) && waiting.reduce((sum, { length }) => sum + length, 0) >= sniffBytes) {
      yield Buffer.concat(waiting);
      waiting = undefined;
    }
  }
  if (waiting) yield Buffer.concat(waiting);
}

/** The whole of a text. @throws Failure `too_large` in our words beyond `max` characters. */
export async function wholeText(source: Pick<Source, "filename" | "read">, max: number): Promise<string> {
  let text = "";
  for await (const piece of decoded(source)) {
    text += piece;
    if (text.length > max) throw invalid("", `${JSON.stringify(source.filename)} is too large to be read as what it is`);
  }
  return text;
}

/** A part of a text, by its characters. What comes before is passed over, so a huge file needs no more room than a part. */
export async function readText(source: Source, { from }: Part): Promise<Reading> {
  let at = 0;
  let text = "";
  for await (const piece of decoded(source)) {
    if (at + piece.length > from) text += piece.slice(Math.max(0, from - at));
    at += piece.length;
    if (text.length > partMax) break;
  }
  return textPart(text, from);
}

/** The beginning of what is left of a text, and where it goes on. */
export function textPart(rest: string, from: number): Reading {
  const text = head(rest, partMax);
  return { text, next: rest.length > text.length ? from + text.length : null };
}
