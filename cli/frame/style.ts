import type { Output } from "./context.ts";

/** Colours of a terminal; without one, each returns its text. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly blue: (text: string) => string;
}

/** Whether an output takes colours: a terminal with at least 16 of them, without NO_COLOR (https://no-color.org). */
export const hasColours = (output: Output, env: Readonly<Partial<Record<string, string>>>): boolean =>
  output.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb" && (output.getColorDepth?.(env) ?? 1) >= 4;

export function styleOf(isColoured: boolean): Style {
  const style = (begin: number, end: number) => (text: string) => (isColoured ? `\u001b[${begin}m${text}\u001b[${end}m` : text);
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    blue: style(34, 39),
  };
}
