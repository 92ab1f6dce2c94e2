import type { NewFile } from "../../agent.ts";
import type { Telling } from "./directives.ts";
import type { Placed } from "./reading.ts";

/** What a turn of directives alone ends with: the last that it said or handed over. */
export interface Closing {
  readonly content: string;
  /** All files of the turn, in order. */
  readonly files: readonly NewFile[];
  /** The directives that are told before the end: the closing one only where the turn waits after it. */
  readonly before: readonly Placed[];
}

/** What holds a turn up: what was said before it must not wait so long. */
const waits: readonly string[] = ["sleep", "confirm"];
/** Where a turn ends in another way, or never. */
const others: readonly string[] = ["ask", "fail", "forever"];

/** Null where nothing is said, or the turn does not finish. The same directives give the same, in every run of a turn. */
export function closingOf(directives: readonly Placed[]): Closing | null {
  const at = directives.findLastIndex(({ directive: { name } }) => name === "say" || name === "file");
  const last = directives[at]?.directive;
  const saying = last?.name === "say" || last?.name === "file" ? last : null;
  if (saying === null || directives.some(({ directive }) => others.includes(directive.name))) return null;
  const isLate = directives.slice(at).some(({ directive }) => waits.includes(directive.name));
  return {
    content: saying.name === "say" ? saying.text : handOver(saying),
    files: directives.flatMap(({ directive }) => (directive.name === "file" ? [fileOf(directive)] : [])),
    before: isLate ? directives : directives.toSpliced(at, 1),
  };
}

type HandedOver = Extract<Telling, { name: "file" }>;

/** What is said when a file is handed over. */
export const handOver = ({ filename }: HandedOver): string => `Here is ${filename}.`;

/** The file itself: a text. */
export const fileOf = ({ filename, content }: HandedOver): NewFile => ({ filename, content: [Buffer.from(content)] });
