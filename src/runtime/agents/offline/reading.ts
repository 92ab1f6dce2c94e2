import { type Directive, parseDirective } from "./directives.ts";
import type { Memo } from "./memo.ts";
import { stepsLeft } from "./plan.ts";
import { scanJson } from "./text.ts";

/** The directives of messages, in order, and the text around them. */
export interface Directives {
  readonly directives: readonly Directive[];
  readonly prose: string;
}

/** A position in a message, and the rule that its text breaks there. */
interface Fault {
  readonly fault: { position: number; rule: string };
}

/**
 * Reads `[[NAME PART | PART]]` anywhere in a text: all of them before the first is executed, so that an
 * invalid one at the end is found at the start.
 */
export function readDirectives(text: string): Directives | Fault {
  const directives: Directive[] = [];
  let prose = "";
  let from = 0;
  for (let position = text.indexOf("[["); position !== -1; position = text.indexOf("[[", from)) {
    const nesting = nestingName(text, position);
    const close = endOf(text, position, nesting);
    if (close === -1) return { fault: { position, rule: "a directive ends with ]]" } };
    const body = text.slice(position + 2, close);
    const parsed =
      nesting === undefined && body.includes("[[")
        ? { rule: "a directive cannot be inside another" }
        : parseDirective(body);
    if ("rule" in parsed) return { fault: { position, rule: parsed.rule } };
    prose += text.slice(from, position);
    from = close + 2;
    directives.push({ ...parsed, source: text.slice(position, from), position });
  }
  return { prose: (prose + text.slice(from)).trim(), directives };
}

/**
 * The name of the directive that begins here, if it may contain brackets: in its JSON, or in the directives
 * of its message.
 */
function nestingName(text: string, position: number): string | undefined {
  const start = /\[\[\s*(value|subtask)\s/y;
  start.lastIndex = position;
  return start.exec(text)?.[1];
}

/** The offset of the `]]` that closes the directive at a position; -1 without one. */
function endOf(text: string, position: number, nesting: string | undefined): number {
  if (nesting === "value") return scanJson(text, position + 2).end;
  if (nesting === undefined) return text.indexOf("]]", position);
  const bracket = /\[\[|\]\]/g;
  bracket.lastIndex = position;
  for (let open = 0; ; ) {
    const found = bracket.exec(text);
    if (!found) return -1;
    open += found[0] === "[[" ? 1 : -1;
    if (open === 0) return found.index;
  }
}

/** The most characters of a turn's directives, so that the memos of successive questions stay bounded. */
const lengthMax = 100_000;

/**
 * Reads the directives left by an earlier turn, then the messages. On a fault, returns its place and the
 * broken rule.
 */
export function readTurn(messages: readonly string[], memo: Memo | null): Directives | { fault: string } {
  const directives: Directive[] = [];
  const prose: string[] = [];
  const checkNext = sequenceCheck(memo);
  for (const [i, text] of [memo?.left ?? "", ...messages].entries()) {
    const place =
      i === 0
        ? "in the directives left from the previous turn, at"
        : messages.length === 1
          ? "at"
          : `message ${i} of ${messages.length}, at`;
    const read = readDirectives(text);
    if ("fault" in read) return { fault: `${place} position ${read.fault.position}: ${read.fault.rule}` };
    for (const directive of read.directives) {
      const rule = checkNext(directive);
      if (rule !== undefined) return { fault: `${place} position ${directive.position}: ${rule}` };
      directives.push(directive);
    }
    if (read.prose !== "") prose.push(read.prose);
  }
  return { directives, prose: prose.join("\n") };
}

/** Returns the rule that a directive breaks because of the directives before it. Call it in order. */
function sequenceCheck(memo: Memo | null): (directive: Directive) => string | undefined {
  let steps = memo?.plan && stepsLeft(memo.plan);
  let length = 0;
  return ({ name, parts, source }) => {
    length += source.length;
    if (length > lengthMax)
      return `the directives of a turn, with those left from the previous turn, may have at most ${lengthMax} characters`;
    if (name === "plan") steps = parts.length + 1;
    if (name !== "step") return undefined;
    if (steps === undefined) return "step needs a plan before it";
    if (steps === 0) return "the plan has no more steps";
    steps -= 1;
    return undefined;
  };
}
