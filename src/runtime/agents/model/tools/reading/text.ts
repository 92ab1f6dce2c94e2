import { invalidArgument } from "../../../../../core/failure.ts";
import type { JsonObject } from "../../../../../core/json.ts";
import { head } from "../../tool.ts";

/** The number of bytes from which a file's encoding is detected. */
const sniffBytes = 64 * 1024;

/**
 * Detects the encoding of a text by its beginning, as a name for `TextDecoder`: by its byte order mark, by
 * the declaration of an HTML page, by validity as UTF-8, or else Windows-1252. Null when the file is not
 * text.
 */
function charsetOf(beginning: Uint8Array): string | null {
  const [a, b, c] = beginning;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (beginning.includes(0)) return wideCharset(beginning);
  const declared = declaredIn(beginning);
  if (declared !== undefined) return declared;
  return isUtf8(beginning) ? "utf-8" : hasControls(beginning) ? null : "windows-1252";
}

/**
 * Detects UTF-16 without a mark: most texts have many characters below 256, so every other byte is often
 * zero.
 */
function wideCharset(beginning: Uint8Array): string | null {
  const pairs = beginning.length >> 1;
  let low = 0;
  let high = 0;
  for (let i = 0; i < pairs * 2; i += 2) {
    if (beginning[i] === 0) high += 1;
    if (beginning[i + 1] === 0) low += 1;
  }
  if (low > pairs / 3 && high < pairs / 50) return "utf-16le";
  return high > pairs / 3 && low < pairs / 50 ? "utf-16be" : null;
}

/** Reads `<meta charset=…>` and its older form in the first bytes of a page (HTML 13.2.3.2). */
function declaredIn(beginning: Uint8Array): string | undefined {
  const head = Buffer.from(beginning.subarray(0, 1_024)).toString("latin1");
  const [, label = ""] = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_-]{2,30})/i.exec(head) ?? [];
  try {
    const { encoding } = new TextDecoder(label);
    return label === "" || encoding.startsWith("utf-16") ? undefined : encoding;
  } catch {
    return undefined;
  }
}

function isUtf8(beginning: Uint8Array): boolean {
  try {
    // The beginning may end within a character.
    new TextDecoder("utf-8", { fatal: true }).decode(beginning, { stream: true });
    return !hasControls(beginning);
  } catch {
    return false;
  }
}

/** True for control bytes other than tabs, ends of lines and pages, and escapes of terminals. */
const hasControls = (bytes: Uint8Array): boolean =>
  bytes.some(
    (byte) =>
      byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b,
  );

export interface Source {
  readonly filename: string;
  /** Media type. */
  readonly contentType: string;
  /** The address of a page, for its links. */
  readonly url?: string;
  read(): AsyncIterable<Uint8Array>;
}

export interface Part {
  /** The first line of a text, row of a table, page of a document or character of a page; 0 is the first. */
  readonly from: number;
  /** The most lines, rows or pages. */
  readonly count: number;
  /** A JSON Pointer (RFC 6901); empty for the full value. */
  readonly pointer: string;
  readonly signal: AbortSignal;
}

/** The part that was read. `next` is the start of the next part; null at the end. */
export type Reading = JsonObject & { readonly next: number | null };

/** The most characters of one part. */
export const partMax = 20_000;

/** Decodes a file as text, piece by piece. @throws Failure `invalid_argument` for a file that is not text. */
export async function* decodeText({
  filename,
  read,
}: Pick<Source, "filename" | "read">): AsyncGenerator<string, void, void> {
  const bytes = withBeginning(read());
  const { value = new Uint8Array() } = await bytes.next();
  const charset = charsetOf(value.subarray(0, sniffBytes));
  if (charset === null)
    throw invalidArgument(
      "",
      `${JSON.stringify(filename)} is not text, and not of another type that can be read`,
    );
  const decoder = new TextDecoder(charset);
  yield decoder.decode(value, { stream: true });
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** Passes bytes on, with a first piece that is large enough to detect the encoding. */
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

/** Reads a full text. @throws Failure `invalid_argument` beyond `max` characters. */
export async function readFullText(source: Pick<Source, "filename" | "read">, max: number): Promise<string> {
  let text = "";
  for await (const piece of decodeText(source)) {
    text += piece;
    if (text.length > max)
      throw invalidArgument("", `${JSON.stringify(source.filename)} is too large to be read by its type`);
  }
  return text;
}

/** Reads a text line by line, each with its end. A line of more than `partMax` characters is several. */
export async function* linesOf(
  source: Pick<Source, "filename" | "read">,
): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const piece of decodeText(source)) {
    const lines = `${rest}${piece}`.split(/(?<=\n)/);
    rest = lines.pop() ?? "";
    for (const line of lines) for (const part of partsOfLine(line)) yield part;
    const parts = partsOfLine(rest);
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") yield rest;
}

function partsOfLine(line: string): string[] {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > partMax) {
    const part = head(rest, partMax);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return [...parts, rest];
}

/**
 * Reads a part of a text, by lines. The text before it is skipped, so a huge file needs only the memory of a
 * part.
 */
export async function readText(
  source: Pick<Source, "filename" | "read">,
  { from = 0, count = Number.POSITIVE_INFINITY }: Partial<Part>,
): Promise<Reading> {
  let at = 0;
  let text = "";
  for await (const line of linesOf(source)) {
    const isFull = at - from >= count || (text !== "" && text.length + line.length > partMax);
    if (at >= from && isFull) return { text, next: at };
    if (at >= from) text += line;
    at += 1;
  }
  return { text, next: null };
}

/** Returns the beginning of the remaining text, and the start of the next part. */
export function cutPart(rest: string, from: number): Reading {
  const text = head(rest, partMax);
  return { text, next: rest.length > text.length ? from + text.length : null };
}
