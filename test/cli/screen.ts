import { stripVTControlCharacters } from "node:util";

/**
 * What a terminal shows: it follows line feeds, carriage returns, upward moves and clearing, and ignores
 * colours.
 */
export interface Screen {
  readonly write: (text: string) => void;
  /** All lines, also those that have left the window. */
  readonly text: () => string;
  /** Everything that was written, with its control characters. */
  readonly raw: () => string;
  /** Waits until the screen has a text. */
  readonly until: (text: string) => Promise<void>;
}

export function screen(): Screen {
  const lines: string[] = [""];
  let [row, column] = [0, 0];
  let raw = "";
  const waiting = new Set<() => void>();

  function put(text: string): void {
    const line = (lines[row] ?? "").padEnd(column);
    lines[row] = line.slice(0, column) + text + line.slice(column + text.length);
    column += text.length;
  }

  function control(sequence: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
    const [, count = "", kind] = /^\u001b\[(\d*)([A-Za-z])$/.exec(sequence) ?? [];
    if (kind === "A") row = Math.max(0, row - Number(count || 1));
    else if (kind === "G") column = Number(count || 1) - 1;
    else if (kind === "K") lines[row] = (lines[row] ?? "").slice(0, column);
    else if (kind === "J") {
      lines.length = row + 1;
      lines[row] = (lines[row] ?? "").slice(0, column);
    } else if (stripVTControlCharacters(sequence) !== "")
      throw new Error(`the screen does not know ${JSON.stringify(sequence)}`);
  }

  function write(text: string): void {
    raw += text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
    for (const part of text.match(/\u001b\[[\d;?]*[A-Za-z]|\n|\r|[^\u001b\n\r]+/g) ?? []) {
      if (part === "\n") [row, column] = [row + 1, 0];
      else if (part === "\r") column = 0;
      else if (part.startsWith("\u001b")) control(part);
      else put(part);
      while (lines.length <= row) lines.push("");
    }
    for (const look of waiting) look();
  }

  const shown = () => lines.map((line) => line.trimEnd()).join("\n");
  return {
    write,
    text: shown,
    raw: () => raw,
    until: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!shown().includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
