import type { Turn } from "../../agent.ts";
import type { Request } from "./memo.ts";
import { shorten } from "./text.ts";

const number = String.raw`-?\d{1,9}(?:\.\d{1,6})?`;
/** A sum must not be next to these: then a number is part of a word, a date, a path or a longer sum. */
const before = String.raw`(?<![\p{L}\p{N}.,:_/+*-]|[-+*/]\s{1,9})`;
const after = String.raw`(?![\p{L}\p{N}_/+*-]|[.,:]\d|\s{1,9}[-+*/]\s{0,9}\d)`;
const sumPattern = new RegExp(
  `${before}(${number})(\\s{0,9}[+*]\\s{0,9}|\\s{1,9}[-/]\\s{1,9})(${number})${after}`,
  "gu",
);
const operations: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};

/**
 * Computes the first five simple sums of a text: `12 * 4 = 48`. Minus and slash need spaces around them, as
 * dates and paths have none.
 */
export const findSums = (text: string): readonly string[] =>
  [...text.matchAll(sumPattern).take(5)].map(([, a, operator = "", b]) => {
    const sign = operator.trim();
    return `${a} ${sign} ${b} = ${Number(operations[sign]?.(Number(a), Number(b)).toPrecision(12))}`;
  });

/**
 * Answers without a model: the same question gives the same text. Empty when the messages have only
 * directives.
 */
export function writeAnswer(
  { instruction, connectors }: Turn,
  { text, files, previous, plain }: Request,
  skills: string,
): string {
  if (text === "") return [files, skills].filter(Boolean).join("\n");
  const names = connectors.map(({ name }) => shorten(name)).join(", ");
  const lines = [
    !plain && `You wrote: ${shorten(text.replaceAll(/\s+/g, " "))}`,
    ...findSums(text.replaceAll(/^[ \t]{0,9}(?:[-*•]|\d{1,3}[.)])\s/gm, "")),
    files,
    instruction && `The instruction for this task: ${shorten(instruction)}`,
    skills,
    names && `Connectors of this task: ${names}.`,
    previous && `Before this you wrote: ${shorten(previous)}`,
    "This is the offline agent: it calls no model. Its guide has the directives that choose what happens.",
  ];
  return lines.filter(Boolean).join("\n");
}
