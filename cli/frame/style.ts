import { styleText } from "node:util";
import type { Output } from "./context.ts";

const colours = ["bold", "dim", "red", "green", "yellow", "blue"] as const;

/** Colours of a terminal; without one, each returns its text. */
export type Style = Readonly<Record<(typeof colours)[number], (text: string) => string>>;

/**
 * Whether an output takes colours: a terminal with at least 16 of them, without NO_COLOR
 * (https://no-color.org).
 */
export const hasColours = (output: Output, env: Readonly<Partial<Record<string, string>>>): boolean =>
  output.isTTY === true &&
  !env["NO_COLOR"] &&
  env["TERM"] !== "dumb" &&
  (output.getColorDepth?.(env) ?? 1) >= 4;

export function styleOf(isColoured: boolean): Style {
  // `hasColours` decides, not the output of this process.
  const style = (colour: (typeof colours)[number]) => (text: string) =>
    isColoured ? styleText(colour, text, { validateStream: false }) : text;
  return {
    bold: style("bold"),
    dim: style("dim"),
    red: style("red"),
    green: style("green"),
    yellow: style("yellow"),
    blue: style("blue"),
  };
}
