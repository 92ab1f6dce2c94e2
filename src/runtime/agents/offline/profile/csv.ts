import { count, shorten, someMax } from "../words.ts";

/** Rows and columns of a table whose first row has the names, and simple facts of each column; undefined for what is no table. */
export function csvProfile(text: string, cut: boolean): readonly string[] | undefined {
  const all = rowsOf(text, separatorOf(text));
  // Where the text was cut, its last row is none.
  const [names, ...rows] = (cut ? all?.slice(0, -1) : all) ?? [];
  if (!names) return undefined;
  const odd = rows.filter((row) => row.length !== names.length).length;
  return [
    `a table of ${count(rows.length, "row")} and ${count(names.length, "column")}`,
    ...names.slice(0, someMax).map((name, column) => `column ${shorten(name.trim()) || column + 1}: ${columnFacts(rows, column)}`),
    ...(names.length > someMax ? [`… and ${count(names.length - someMax, "column")} more`] : []),
    ...(odd === 0 ? [] : [`${count(odd, "row")} with more or fewer fields than names`]),
  ];
}

/** The most frequent of the usual separators in the first line. */
function separatorOf(text: string): string {
  const [line = ""] = text.split(/[\r\n]/, 1);
  const times = (separator: string) => line.split(separator).length;
  return ["\t", ";"].find((separator) => times(separator) > times(",")) ?? ",";
}

/** A field in quotes, in which a quote is doubled, or without; then a separator, a line's end, or the end (RFC 4180 2). */
const fieldOf = (separator: string): RegExp =>
  new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|(?!")([^${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`, "y");

/** The fields of each row; undefined where quotes do not match. */
function rowsOf(text: string, separator: string): readonly (readonly string[])[] | undefined {
  const field = fieldOf(separator);
  const rows: string[][] = [];
  let row: string[] = [];
  while (field.lastIndex < text.length || row.length > 0) {
    const found = field.exec(text);
    if (!found) return undefined;
    const [, quoted, plain = "", end] = found;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === separator) continue;
    // A line with nothing in it is no row.
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

function columnFacts(rows: readonly (readonly string[])[], column: number): string {
  const values = rows.map((row) => row[column]?.trim() ?? "");
  const given = values.filter((value) => value !== "");
  const empty = values.length === given.length ? "" : `, ${values.length - given.length} empty`;
  if (given.length === 0) return "empty";
  const numbers = given.filter((value) => /^-?\d{1,15}(\.\d{1,15})?$/.test(value)).map(Number);
  if (numbers.length < given.length) return `text, ${count(new Set(given).size, "different value")}${empty}`;
  const [least, most] = numbers.reduce(
    ([low, high], n) => [Math.min(low, n), Math.max(high, n)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  return `numbers from ${least} to ${most}, mean ${meanOf(numbers)}${empty}`;
}

const meanOf = (numbers: readonly number[]): number => Number((numbers.reduce((sum, n) => sum + n, 0) / numbers.length).toPrecision(6));
