import type { Said } from "../../agent.ts";

/** What an answer is made from. */
export interface Question {
  /** The messages of this turn, without their directives. */
  readonly text: string;
  readonly instruction: string;
  readonly earlier: readonly Said[];
  readonly locale: string;
}

/** Words that carry no subject, in the language the agent speaks. */
const filler = new Set(
  "a an and are as at be but by can could do does for from give had has have how i if in into is it its just make me my of on or our please so than that the their them then there these they this to up us was we were what when where which who why will with would you your".split(" "),
);

/** The two or three steps the agent takes; the last one only where there is more than one point. */
export function plan(text: string): readonly { readonly title: string; readonly thought: string }[] {
  const points = pointsOf(text);
  return [
    { title: "Read the request", thought: `The request has ${count(wordsOf(text).length, "word")} in ${count(points.length, "point")}.` },
    ...(points.length > 1 ? [{ title: "Go through its points", thought: points.map((point, i) => `${i + 1}. ${point}`).join("\n") }] : []),
    { title: "Write the answer", thought: `Its subject seems to be ${listOf(subjectsOf(text)) || "open"}.` },
  ];
}

/**
 * A plain answer without a model: what was understood, point by point, under which
 * instruction, and what it follows on from. The same question gives the same text.
 */
export function answer({ text, instruction, earlier }: Question): string {
  const points = pointsOf(text);
  const subjects = subjectsOf(text);
  const previous = earlier.findLast(({ role }) => role === "user");
  return [
    text === "" ? "Done." : `You asked: ${shorten(points[0] ?? text, 200)}`,
    points.length > 1 ? points.map((point, i) => `${i + 1}. ${shorten(point, 200)}`).join("\n") : "",
    subjects.length > 0 ? `Subject: ${listOf(subjects)}.` : "",
    ...sums(text),
    instruction === "" ? "" : `The project's instruction was applied: ${shorten(instruction, 200)}`,
    previous ? `This follows on from your earlier message: ${shorten(previous.content, 200)}` : "",
    text === "" ? "" : "This is the offline agent: it reads and sorts what you write, and calls no model.",
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** Simple sums in the text, worked out: `12 * 4 = 48`. */
function sums(text: string): readonly string[] {
  const found = text.matchAll(/(?<![\w.])(-?\d{1,9}(?:\.\d{1,6})?)\s*([-+*/×÷])\s*(-?\d{1,9}(?:\.\d{1,6})?)(?![\w.]*\d)/g);
  return [...found].slice(0, 5).map(([sum, a, operator = "", b]) => `${sum.trim()} = ${calculate(Number(a), operator, Number(b))}`);
}

function calculate(a: number, operator: string, b: number): string {
  const results: Record<string, number> = { "+": a + b, "-": a - b, "*": a * b, "×": a * b, "/": a / b, "÷": a / b };
  const result = results[operator] ?? Number.NaN;
  return Number.isFinite(result) ? String(Number(result.toPrecision(12))) : "undefined";
}

/** Lines and sentences with something in them. */
const pointsOf = (text: string): readonly string[] =>
  text
    .split(/\n+|(?<=[.!?])\s+/)
    .map((point) => point.replace(/^(?:[-*•]|\d+[.)])\s+/, "").trim())
    .filter((point) => point !== "")
    .slice(0, 20);

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];

/** The words used most, earlier ones first among equals. */
function subjectsOf(text: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) if (word.length > 2 && !filler.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a).slice(0, 5).map(([word]) => word);
}

const listOf = (words: readonly string[]): string => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
const shorten = (text: string, max: number): string => ([...text].length <= max ? text : `${[...text].slice(0, max - 1).join("")}…`);
