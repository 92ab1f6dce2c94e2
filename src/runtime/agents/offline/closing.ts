import type { NewFile } from "../../agent.ts";
import type { Telling } from "./directives.ts";
import type { Placed } from "./reading.ts";

/** The message that a turn of directives alone ends with. */
export interface Closing {
  readonly content: string;
  /** All files of the turn, in order. */
  readonly files: readonly NewFile[];
  /** The directives to obey before it. */
  readonly before: readonly Placed[];
}

/** With one of these a turn ends in another way, or never. */
const others: readonly string[] = ["ask", "fail", "forever"];

/**
 * The last `say` closes the turn; without any, the last `file` does. It is written at the end only, except when a `confirm`
 * follows it: then it is written before the decision, and again as the result. Null where the turn says nothing, or does not
 * finish. The same directives give the same closing in every run of a turn (contract/decisions.md 52).
 */
export function closingOf(directives: readonly Placed[]): Closing | null {
  const names = directives.map(({ directive: { name } }) => name);
  const at = names.includes("say") ? names.lastIndexOf("say") : names.lastIndexOf("file");
  const last = directives[at]?.directive;
  const saying = last?.name === "say" || last?.name === "file" ? last : null;
  if (saying === null || names.some((name) => others.includes(name))) return null;
  return {
    content: saying.name === "file" ? handOver(saying) : saying.text,
    files: directives.flatMap(({ directive }) => (directive.name === "file" ? [fileOf(directive)] : [])),
    before: at < names.lastIndexOf("confirm") ? directives : directives.toSpliced(at, 1),
  };
}

type HandedOver = Extract<Telling, { name: "file" }>;

/** What is said when a file is handed over. */
export const handOver = ({ filename }: HandedOver): string => `Here is ${filename}.`;

/** The file itself: a text. */
export const fileOf = ({ filename, content }: HandedOver): NewFile => ({ filename, content: [Buffer.from(content)] });
