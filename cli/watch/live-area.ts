import type { Output } from "../frame/context.ts";
import { shorten } from "../frame/text.ts";

/**
 * The last lines of a terminal, which are written again when they change. What is printed stays above them.
 */
export interface LiveArea {
  readonly columns: () => number;
  readonly rows: () => number;
  /** Writes lines above the area, which stay. */
  readonly print: (lines: readonly string[]) => void;
  /** Replaces the lines of the area. */
  readonly draw: (lines: readonly LiveLine[]) => void;
}

/** A line of the area: it is shortened to the width of the terminal before its colour is added. */
export interface LiveLine {
  readonly text: string;
  readonly colour?: (text: string) => string;
}

export function liveArea(output: Output): LiveArea {
  let drawn = 0;
  let now: readonly LiveLine[] = [];
  const columns = () => output.columns ?? 80;
  const erase = () => (drawn === 0 ? "" : `\u001b[${drawn}A\r\u001b[J`);
  const area = () =>
    now.map(({ text, colour = (same) => same }) => `${colour(shorten(text, columns() - 1))}\n`).join("");

  function redraw(above: readonly string[]): void {
    // One write, so that the terminal shows no state between the two.
    output.write(`${erase()}${above.map((line) => `${line}\n`).join("")}${area()}`);
    drawn = now.length;
  }
  return {
    columns,
    rows: () => output.rows ?? 24,
    print: (lines) => redraw(lines),
    draw(lines) {
      // Lines that have left the window cannot be written again.
      now = lines.slice(-Math.max(1, (output.rows ?? 24) - 1));
      redraw([]);
    },
  };
}
