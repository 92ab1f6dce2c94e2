import type { NewFile } from "../../agent.ts";
import type { Telling } from "./directives.ts";
import type { Placed } from "./reading.ts";

/** What a turn of directives alone ends with: the last that it said or handed over. */
export interface Closing {
  readonly content: string;
  /** All files of the turn, in order. */
  readonly files: readonly NewFile[];
  /** The directives without the closing one, which is told once, as the result. */
  readonly before: readonly Placed[];
}

/** What tells nothing, so that the closing message may stand before it. */
const silent: readonly string[] = ["value", "sleep", "crash"];
/** Where a turn ends in another way, or never. */
const others: readonly string[] = ["ask", "fail", "forever"];

/**
 * Null where the last that a turn tells is nothing said, or where the turn does not finish: events keep the order of their
 * directives. The same directives give the same, in every run of a turn.
 */
export function closingOf(directives: readonly Placed[]): Closing | null {
  const names = directives.map(({ directive: { name } }) => name);
  const at = names.findLastIndex((name) => !silent.includes(name));
  const last = directives[at]?.directive;
  const saying = last?.name === "say" || last?.name === "file" ? last : null;
  if (saying === null || names.some((name) => others.includes(name))) return null;
  return {
    content: saying.name === "file" ? handOver(saying) : saying.text,
    files: directives.flatMap(({ directive }) => (directive.name === "file" ? [fileOf(directive)] : [])),
    before: directives.toSpliced(at, 1),
  };
}

type HandedOver = Extract<Telling, { name: "file" }>;

/** What is said when a file is handed over. */
export const handOver = ({ filename }: HandedOver): string => `Here is ${filename}.`;

/** The file itself: a text. */
export const fileOf = ({ filename, content }: HandedOver): NewFile => ({ filename, content: [Buffer.from(content)] });
