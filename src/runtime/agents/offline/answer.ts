import { count, shorten } from "./text.ts";

const number = String.raw`-?\d{1,9}(?:\.\d{1,6})?`;
const operator = String.raw`\s{0,9}[+*×÷]\s{0,9}|\s{1,9}[-/]\s{1,9}`;
/** A sum must not be next to these: then a number is part of a word, a date, a path or a longer sum. */
const lookbehind = String.raw`(?<![\p{L}\p{N}.,:_/+*×÷-]|[-+*/×÷]\s{1,9})`;
const lookahead = String.raw`(?![\p{L}\p{N}_/+*×÷-]|[.,:]\d|\s{1,9}[-+*/×÷]\s{0,9}\d)`;
const sumPattern = new RegExp(`${lookbehind}(${number})(${operator})(${number})${lookahead}`, "gu");

const sumsMax = 5;

/**
 * Finds simple sums in a text and computes them: `12 * 4 = 48`. Minus and slash need spaces around them, because dates,
 * versions and paths have them without spaces.
 */
export function findSums(text: string): readonly string[] {
  const matches = [...text.matchAll(sumPattern)].slice(0, sumsMax);
  return matches.map(([, a = "", between = "", b = ""]) => `${a} ${between.trim()} ${b} ${resultOf(a, between.trim(), b)}`);
}

function resultOf(a: string, operator: string, b: string): string {
  const [x, y] = [Number(a), Number(b)];
  if (operator === "/" || operator === "÷") return y === 0 ? "has no result" : quotient(x, y);
  const plain = operator === "+" ? x + y : operator === "-" ? x - y : x * y;
  const [m, n] = [decimalsOf(a), decimalsOf(b)];
  const decimals = operator === "+" || operator === "-" ? Math.max(m, n) : m + n;
  // Below this bound every digit of the result is exact after rounding to its decimals.
  return Math.abs(plain) * 10 ** decimals < 2 ** 52 ? `= ${Number(plain.toFixed(decimals))}` : `≈ ${Number(plain.toPrecision(12))}`;
}

function quotient(x: number, y: number): string {
  const short = Number((x / y).toPrecision(12));
  return `${short * y === x ? "=" : "≈"} ${short}`;
}

const decimalsOf = (number: string): number => number.split(".")[1]?.length ?? 0;

/** The input of an answer. */
export interface AnswerInput {
  /** The messages of this turn, without their directives. */
  readonly text: string;
  /** A description of the attached files; empty without any. */
  readonly files: string;
  /** The answer does not repeat the messages. */
  readonly isPlain: boolean;
  readonly instruction: string;
  /** The user's last message before this turn; empty in the first turn. */
  readonly previous: string;
  readonly locale: string;
  /** The line with the available skills; empty without any. */
  readonly skills: string;
  /** The names of the task's connectors, which this agent does not use. */
  readonly connectors: readonly string[];
}

/** One step of the agent's plan, with its explanation. */
export interface Step {
  readonly title: string;
  readonly thought: string;
}

/** English words that are never subjects. */
const filler = new Set(
  "a an and are as at be but by can could do does for from give had has have how i if in into is it its just make me my of on or our please so than that the their them then there these they this to up us was we were what when where which who why will with would you your".split(
    " ",
  ),
);
const pointsMax = 20;

/** The steps of the agent's plan. It has a step for points only when there are several, and one for files only when there are some. */
export function planSteps(text: string, files: number): readonly Step[] {
  const points = pointsOf(text);
  return [
    { title: "Read the request", thought: `The request has ${count(wordsOf(text).length, "word")} in ${count(points.length, "point")}.` },
    ...(points.length > 1 ? [{ title: "Go through its points", thought: numbered(points) }] : []),
    ...(files > 0 ? [{ title: "Look into the files", thought: `There ${files === 1 ? "is" : "are"} ${count(files, "file")}.` }] : []),
    { title: "Write the answer", thought: `Its subject seems to be ${listOf(subjectsOf(text)) || "open"}.` },
  ];
}

/**
 * Writes an answer without a model: the request's points, its sums, the files, the project's instruction, and the previous
 * message. The same question gives the same text. It is empty when the messages have only directives.
 */
export function writeAnswer({ text, files, isPlain, instruction, previous, locale, skills, connectors }: AnswerInput): string {
  if (text === "") return [files, skills].filter(Boolean).join("\n");
  const points = pointsOf(text);
  const subjects = subjectsOf(text);
  return [
    isPlain ? "" : repeated(points, text),
    ...findSums(points.join("\n")),
    files,
    subjects.length > 0 ? `Subject: ${listOf(subjects)}.` : "",
    instruction === "" ? "" : `The instruction for this task: ${shorten(instruction)}`,
    skills,
    connectors.length === 0 ? "" : `Connectors of this task: ${listOf(connectors.map(shorten))}.`,
    previous === "" ? "" : `Before this you wrote: ${shorten(previous)}`,
    `This is the offline agent: it reads and sorts what you write, and calls no model.${english(locale)}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** The empty line ends the list: in Markdown the next line would belong to its last item. */
const repeated = (points: readonly string[], text: string): string =>
  points.length > 1 ? `You made ${points.length} points:\n${numbered(points)}\n` : `You wrote: ${shorten(points[0] ?? text)}`;

const english = (locale: string): string => (/^en\b/i.test(locale) ? "" : ` It answers in English only, not ${locale}.`);

/** The non-empty lines and sentences of a text. */
const pointsOf = (text: string): readonly string[] =>
  text
    .split(/\n+|(?<=[.!?])\s+/)
    .map((point) => point.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, "").trim())
    .filter((point) => point !== "");

function numbered(points: readonly string[]): string {
  const lines = points.slice(0, pointsMax).map((point, i) => `${i + 1}. ${shorten(point)}`);
  return (points.length > pointsMax ? [...lines, `… and ${points.length - pointsMax} more`] : lines).join("\n");
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];

/** The most frequent words; of equally frequent words the earlier first. */
function subjectsOf(text: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) {
    if (word.length > 2 && /\p{L}/u.test(word) && !filler.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([word]) => shorten(word));
}

const listOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
