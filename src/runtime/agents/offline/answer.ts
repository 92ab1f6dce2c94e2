import { sumsIn } from "./sums.ts";
import { count, shorten } from "./words.ts";

/** What an answer is made from. */
export interface Question {
  /** The messages of this turn, without their directives. */
  readonly text: string;
  /** What the files are that came with it; empty without any. */
  readonly files: string;
  readonly instruction: string;
  /** What the user said last before this turn; empty in the first one. */
  readonly previous: string;
  readonly locale: string;
  /** The names of the skills at hand; empty without any. */
  readonly skills: string;
  /** Names of the connectors that it could use, if it used any. */
  readonly connectors: readonly string[];
}

/** One step of the agent's plan, and what it finds there. */
export interface Step {
  readonly title: string;
  readonly thought: string;
}

/** Words that carry no subject, in the language the agent speaks. */
const filler = new Set(
  "a an and are as at be but by can could do does for from give had has have how i if in into is it its just make me my of on or our please so than that the their them then there these they this to up us was we were what when where which who why will with would you your".split(
    " ",
  ),
);
const pointsMax = 20;

/** The steps the agent takes: it goes through points only where there is more than one, and looks into files only where there are some. */
export function stepsFor(text: string, files: number): readonly Step[] {
  const points = pointsOf(text);
  return [
    { title: "Read the request", thought: `The request has ${count(wordsOf(text).length, "word")} in ${count(points.length, "point")}.` },
    ...(points.length > 1 ? [{ title: "Go through its points", thought: numbered(points) }] : []),
    ...(files > 0 ? [{ title: "Look into the files", thought: `There ${files === 1 ? "is" : "are"} ${count(files, "file")}.` }] : []),
    { title: "Write the answer", thought: `Its subject seems to be ${listOf(subjectsOf(text)) || "open"}.` },
  ];
}

/**
 * A plain answer without a model: what was understood, point by point, the sums in
 * it, what the files are, the instruction it stands under, and what it follows. The same question gives
 * the same text; it is empty where nothing but directives was asked.
 */
export function answer({ text, files, instruction, previous, locale, skills, connectors }: Question): string {
  if (text === "") return [files, skills].filter(Boolean).join("\n");
  const points = pointsOf(text);
  const subjects = subjectsOf(text);
  return [
    points.length > 1 ? `You made ${points.length} points:\n${numbered(points)}` : `You wrote: ${shorten(points[0] ?? text)}`,
    ...sumsIn(points.join("\n")),
    files,
    subjects.length > 0 ? `Subject: ${listOf(subjects)}.` : "",
    instruction === "" ? "" : `The project's instruction for this task: ${shorten(instruction)}`,
    skills,
    connectors.length === 0 ? "" : `Connectors of this task: ${listOf(connectors.map(shorten))}.`,
    previous === "" ? "" : `Before this you wrote: ${shorten(previous)}`,
    `This is the offline agent: it reads and sorts what you write, and calls no model.${english(locale)}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

const english = (locale: string): string => (/^en\b/i.test(locale) ? "" : ` It speaks English only, not ${locale}.`);

/** Lines and sentences with something in them. */
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

/** The words used most, earlier ones first among equals. */
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
