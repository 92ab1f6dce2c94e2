import type { Turn } from "../../agent.ts";
import type { Request } from "./memo.ts";
import { shorten } from "./text.ts";

const number = String.raw`-?\d{1,9}(?:\.\d{1,6})?`;
const operator = String.raw`\s{0,9}[+*×÷]\s{0,9}|\s{1,9}[-/]\s{1,9}`;
/** A sum must not be next to these: then a number is part of a word, a date, a path or a longer sum. */
const before = String.raw`(?<![\p{L}\p{N}.,:_/+*×÷-]|[-+*/×÷]\s{1,9})`;
const after = String.raw`(?![\p{L}\p{N}_/+*×÷-]|[.,:]\d|\s{1,9}[-+*/×÷]\s{0,9}\d)`;
const sumPattern = new RegExp(`${before}(${number})(${operator})(${number})${after}`, "gu");

/** Computes the first simple sums of a text: `12 * 4 = 48`. Minus and slash need spaces around them, as dates and paths have none. */
export const findSums = (text: string): readonly string[] =>
  [...text.matchAll(sumPattern).take(5)].map(
    ([, a, sign = "", b]) => `${a} ${sign.trim()} ${b} ${resultOf(Number(a), sign.trim(), Number(b))}`,
  );

function resultOf(a: number, sign: string, b: number): string {
  const result = sign === "+" ? a + b : sign === "-" ? a - b : /[*×]/.test(sign) ? a * b : a / b;
  if (!Number.isFinite(result)) return "has no result";
  const short = Number(result.toPrecision(12));
  const isExact = Math.abs(result) < 1e12 && Math.abs(short - result) <= Math.abs(result) * 2 * Number.EPSILON;
  return `${isExact ? "=" : "≈"} ${short}`;
}

/** Answers without a model: the same question gives the same text. Empty when the messages have only directives. */
export function writeAnswer({ instruction, connectors }: Turn, { text, files, previous, plain }: Request, skills: string): string {
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
