import { Failure } from "../../../core/failure.ts";
import { isObject, type Json } from "../../../core/json.ts";
import type { AttachedFile } from "../../agent.ts";
import { count, parseJson, shorten, someOf } from "./text.ts";

/** The rows and columns of a table whose first row has the names, with facts of each column; undefined if it is not a table. */
function csvProfile(text: string, cut: boolean): readonly string[] | undefined {
  const all = rowsOf(text, separatorOf(text));
  // A text that was cut may end within its last row.
  const [names, ...rows] = (cut ? all?.slice(0, -1) : all) ?? [];
  if (!names) return undefined;
  const odd = rows.filter((row) => row.length !== names.length).length;
  return [
    `a table of ${count(rows.length, "row")} and ${count(names.length, "column")}`,
    ...someOf(names, (name, column) => `column ${shorten(name.trim()) || column + 1}: ${columnFacts(rows, column)}`, "column"),
    ...(odd === 0 ? [] : [`${count(odd, "row")} with more or fewer fields than names`]),
  ];
}

/** The most frequent of the usual separators in the first line. */
function separatorOf(text: string): string {
  const [line = ""] = text.split(/[\r\n]/, 1);
  const times = (separator: string) => line.split(separator).length;
  return ["\t", ";"].find((separator) => times(separator) > times(",")) ?? ",";
}

/** Matches a quoted field, with doubled quotes inside, or a plain one, and the separator or end after it (RFC 4180 2). */
const fieldOf = (separator: string): RegExp =>
  new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|(?!")([^${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`, "y");

/** The fields of each row; undefined when quotes do not match. */
function rowsOf(text: string, separator: string): readonly (readonly string[])[] | undefined {
  const field = fieldOf(separator);
  const rows: string[][] = [];
  let row: string[] = [];
  while (field.lastIndex < text.length || row.length > 0) {
    const match = field.exec(text);
    if (!match) return undefined;
    const [, quoted, plain = "", end] = match;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === separator) continue;
    // An empty line is not a row.
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

function columnFacts(rows: readonly (readonly string[])[], column: number): string {
  const values = rows.map((row) => row[column]?.trim() ?? "");
  const filled = values.filter((value) => value !== "");
  const empty = values.length === filled.length ? "" : `, ${values.length - filled.length} empty`;
  if (filled.length === 0) return "empty";
  const numbers = filled.filter((value) => /^-?\d{1,15}(\.\d{1,15})?$/.test(value)).map(Number);
  if (numbers.length < filled.length) return `text, ${count(new Set(filled).size, "different value")}${empty}`;
  // A spread into the arguments of `Math.min` would overflow the stack.
  const [least, most] = [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))];
  const mean = numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
  return `numbers from ${least} to ${most}, mean ${Number(mean.toPrecision(6))}${empty}`;
}

/** The number of lines and words, and the first non-empty line. */
function textProfile(text: string): readonly string[] {
  const lines = linesOf(text);
  const first = lines.find((line) => line.trim() !== "");
  const size = `${count(lines.length, "line")}, ${count(text.match(/\S+/g)?.length ?? 0, "word")}`;
  return first === undefined ? [size] : [size, `first line: ${shorten(first.trim())}`];
}

/** The lines of a text. A line feed at the end begins no new line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** The type of a JSON text's value, with its keys or items; undefined for invalid JSON. */
function jsonProfile(text: string): readonly string[] | undefined {
  const parsed = parseJson(text);
  if (!parsed) return undefined;
  const { value } = parsed;
  if (Array.isArray(value)) return [`a JSON array of ${count(value.length, "item")}`, ...itemsOf(value)];
  if (isObject(value)) return [`a JSON object with ${keysOf(value)}`];
  return [`a JSON ${kindOf(value)}`];
}

/** The types of the items, and the keys of the first object. */
function itemsOf(items: readonly Json[]): readonly string[] {
  const kinds = [...new Set(items.map(kindOf))];
  const first = items.find(isObject);
  return [
    ...(kinds.length === 0 ? [] : [`items: ${someOf(kinds, shorten).join(", ")}`]),
    ...(first === undefined ? [] : [`first object: ${keysOf(first)}`]),
  ];
}

function keysOf(object: object): string {
  const keys = Object.keys(object);
  return keys.length === 0 ? "no keys" : `${count(keys.length, "key")}: ${someOf(keys, shorten).join(", ")}`;
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The most bytes of a file that are read. */
const bytesMax = 1024 * 1024;

/**
 * Reads the first megabyte of a file; null when it is not UTF-8 text. `cut` is true when the file has more.
 *
 * @throws Failure `not_found` when the file is gone.
 */
async function readBeginning({ read }: AttachedFile): Promise<{ readonly text: string; readonly cut: boolean } | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of read()) {
    pieces.push(piece);
    length += piece.length;
    if (length > bytesMax) break;
  }
  const cut = length > bytesMax;
  try {
    // The cut may split a character at the end, which is not an error.
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const text = decoder.decode(Buffer.concat(pieces, Math.min(length, bytesMax)), { stream: cut });
    return text.includes("\0") ? null : { text, cut };
  } catch {
    return null;
  }
}

/** The most files that are read. */
const filesMax = 20;

/**
 * Describes files; empty without any. Only the beginning of text files is read: archives, documents and pictures are not
 * opened. The same bytes give the same text.
 */
export async function describeFiles(files: readonly AttachedFile[]): Promise<string> {
  const profiles: string[] = [];
  for (const file of files.slice(0, filesMax)) profiles.push(await profileOf(file));
  if (files.length > filesMax) profiles.push(`… and ${count(files.length - filesMax, "file")} more`);
  return profiles.join("\n");
}

async function profileOf(file: AttachedFile): Promise<string> {
  const { filename, contentType, bytes } = file;
  const [first, ...facts] = await factsOf(file);
  return [`File ${shorten(filename)} (${contentType}, ${count(bytes, "byte")}): ${first}`, ...facts.map((fact) => `- ${fact}`)].join("\n");
}

async function factsOf(file: AttachedFile): Promise<readonly string[]> {
  if (!mayBeText(file.contentType)) return ["not read"];
  try {
    const beginning = await readBeginning(file);
    if (!beginning) return ["not UTF-8 text, so not read"];
    const { text, cut } = beginning;
    return cut ? [...contentFacts(file, text, cut), "only its first megabyte was read"] : contentFacts(file, text, cut);
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "not_found") return ["gone before it was read"];
    throw thrown;
  }
}

/** Describes a file by its type. An invalid table or JSON file is described as text. */
function contentFacts({ filename, contentType }: AttachedFile, text: string, cut: boolean): readonly string[] {
  if (/^text\/(csv|tab-separated-values)$/.test(contentType) || /\.(csv|tsv)$/i.test(filename)) {
    return csvProfile(text, cut) ?? ["not a valid table", ...textProfile(text)];
  }
  if (!cut && (/^application\/(.*\+)?json$/.test(contentType) || /\.json$/i.test(filename))) {
    return jsonProfile(text) ?? ["not valid JSON", ...textProfile(text)];
  }
  return textProfile(text);
}

const textual = /^(text\/.*|application\/(.*\+)?(json|xml|yaml|toml|javascript|sql|x-ndjson|x-yaml|x-sh|x-tex|x-httpd-php|octet-stream))$/;

/** True when files of a type may be text; `application/octet-stream` may be anything. */
const mayBeText = (contentType: string): boolean => textual.test(contentType);
