import type { CliContext } from "./context.ts";
import { hasColours, type Style, styleOf } from "./style.ts";
import { clean, oneLine, safeJson, shorten, widthOf } from "./text.ts";

/** One column of a list: its title, and its text for a row. */
export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string | number | undefined;
}

/** What commands write: results to standard output, notes to standard error. */
export interface Print {
  readonly isJson: boolean;
  readonly isTerminal: boolean;
  readonly style: Style;
  /** Writes the value with `--json`, and else the text. */
  readonly result: (value: unknown, text: string | (() => string)) => void;
  /**
   * Writes rows as a table on a terminal, else with tabs; with `--json` as an array, in the form that
   * `asJson` makes of it.
   */
  readonly list: <Row>(
    rows: readonly Row[],
    columns: readonly Column<Row>[],
    empty: string,
    asJson?: (rows: unknown) => unknown,
  ) => void;
  /** Writes a line for each row; with `--json` the rows as an array. */
  readonly lines: <Row>(rows: readonly Row[], text: (row: Row) => string) => void;
  /** Writes the members of an object, each on a line; with `--json` the object. */
  readonly facts: (
    value: unknown,
    facts: Readonly<Record<string, string | number | boolean | undefined>>,
  ) => void;
  /** Writes JSON that is indented on a terminal. */
  readonly value: (value: unknown) => void;
  /** Writes a line of JSON, for streams. */
  readonly json: (value: unknown) => void;
  /** Writes a note for the user to standard error; not with `--json`. */
  readonly note: (text: string) => void;
}

export function printTo({ process: { stdout, stderr, env } }: CliContext, isJson: boolean): Print {
  const isTerminal = stdout.isTTY === true;
  const style = styleOf(hasColours(stdout, env));
  const line = (text: string) => void stdout.write(`${text}\n`);
  const json = (value: unknown) => line(safeJson(value));

  function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    const cells = rows.map((row) => columns.map(({ text }) => oneLine(String(text(row) ?? ""))));
    if (!isTerminal) {
      for (const row of cells) line(row.join("\t"));
      return;
    }
    const all = [columns.map(({ title }) => title), ...cells];
    const widths = columns.map((_, at) => Math.max(...all.map((row) => widthOf(row[at] ?? ""))));
    all.forEach((row, at) => {
      const padded = row
        .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
        .join("  ");
      const fitted = shorten(padded.trimEnd(), stdout.columns ?? 80);
      line(at === 0 ? style.dim(fitted) : fitted);
    });
  }

  return {
    isJson,
    isTerminal,
    style,
    json,
    value: (value) => (isTerminal && !isJson ? line(safeJson(value, 2)) : json(value)),
    result: (value, text) => (isJson ? json(value) : line(clean(typeof text === "string" ? text : text()))),
    list(rows, columns, empty, asJson = (all) => all) {
      if (isJson) json(asJson(rows));
      else if (rows.length > 0) table(rows, columns);
      else stderr.write(`${empty}\n`);
    },
    lines(rows, text) {
      if (isJson) json(rows);
      else for (const row of rows) line(clean(text(row)));
    },
    facts(value, facts) {
      if (isJson) return json(value);
      const known = Object.entries(facts).filter(([, fact]) => fact !== undefined && fact !== "");
      const width = Math.max(...known.map(([name]) => name.length)) + 1;
      for (const [name, fact] of known)
        line(`${style.dim(`${name}:`.padEnd(width))} ${oneLine(String(fact))}`);
    },
    note: (text) => void (isJson || stderr.write(`${clean(text)}\n`)),
  };
}

/** A time of the API, in Unix seconds, as `2026-11-24 13:05Z`. */
export const timeText = (seconds: number | undefined): string =>
  seconds === undefined ? "" : `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")}Z`;

/** Bytes for people: `12.4 MB`. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let [size, unit] = [bytes, 0];
  for (; size >= 1000 && unit < units.length - 1; unit += 1) size /= 1000;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}
