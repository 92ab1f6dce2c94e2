import { type Directive, parseDirective } from "./directives.ts";
import type { Memo } from "./memo.ts";
import { type Plan, stepsLeft } from "./plan.ts";
import { scanJson } from "./text.ts";

/** A directive with its position. */
export interface PlacedDirective {
  readonly directive: Directive;
  /** The source text, from `[[` to `]]`. */
  readonly source: string;
  /** Offset of its `[[` in the message, from 0, in UTF-16 units. */
  readonly position: number;
}

/** All directives of a message, or the position of the first invalid one and the rule that it breaks; `prose` is the text around them. */
type Orders = TurnDirectives | { readonly fault: { readonly position: number; readonly rule: string } };

/**
 * Reads `[[NAME ARG | ARG]]` anywhere in a text, in order. All directives are read before the first is executed, so that
 * an invalid one at the end is found at the start.
 */
export function readDirectives(text: string): Orders {
  const directives: PlacedDirective[] = [];
  let prose = "";
  let from = 0;
  for (let position = text.indexOf("[["); position !== -1; position = text.indexOf("[[", from)) {
    const nesting = nestingName(text, position);
    const close = endOf(text, position, nesting);
    if (close === -1) return { fault: { position, rule: "a directive ends with ]]" } };
    const body = text.slice(position + 2, close);
    const parsed = nesting === undefined && body.includes("[[") ? { rule: "a directive cannot be inside another" } : parseDirective(body);
    if ("rule" in parsed) return { fault: { position, rule: parsed.rule } };
    prose += text.slice(from, position);
    from = close + 2;
    directives.push({ directive: parsed, source: text.slice(position, from), position });
  }
  return { prose: (prose + text.slice(from)).trim(), directives };
}

/** The text of a message around its directives; empty when a directive is invalid. */
export function textWithoutDirectives(text: string): string {
  const orders = readDirectives(text);
  return "fault" in orders ? "" : orders.prose;
}

/** The name of the directive that begins here, if it may contain brackets: in its JSON, or in the directives of its message. */
function nestingName(text: string, position: number): string | undefined {
  const start = /\[\[\s*(value|subtask)\s/y;
  start.lastIndex = position;
  return start.exec(text)?.[1];
}

/** The offset of the `]]` that closes the directive at a position; -1 without one. */
function endOf(text: string, position: number, nesting: string | undefined): number {
  if (nesting === "value") return scanJson(text, position + 2).end;
  return nesting === "subtask" ? endOfNested(text, position) : text.indexOf("]]", position);
}

/** The offset of the `]]` that closes the `[[` at a position, with other pairs in between; -1 without one. */
function endOfNested(text: string, position: number): number {
  const bracket = /\[\[|\]\]/g;
  bracket.lastIndex = position;
  for (let open = 0; ; ) {
    const found = bracket.exec(text);
    if (!found) return -1;
    open += found[0] === "[[" ? 1 : -1;
    if (open === 0) return found.index;
  }
}

/** The directives of a turn, in order, and the text of its messages around them. */
export interface TurnDirectives {
  readonly directives: readonly PlacedDirective[];
  readonly prose: string;
}

/** The most characters of a turn's directives, so that the memos of successive questions stay bounded. */
const lengthMax = 100_000;

/** Reads the directives left by an earlier turn, then the messages. On a fault, returns its position and the broken rule. */
export function readTurn(messages: readonly string[], memo: Memo | null): TurnDirectives | { readonly fault: string } {
  const directives: PlacedDirective[] = [];
  const prose: string[] = [];
  const checkNext = sequenceCheck(memo?.plan);
  for (const [i, text] of [memo?.remaining ?? "", ...messages].entries()) {
    const faultAt = (position: number, rule: string) => ({ fault: `${placeOf(i, messages.length)} position ${position}: ${rule}` });
    const orders = readDirectives(text);
    if ("fault" in orders) return faultAt(orders.fault.position, orders.fault.rule);
    for (const placed of orders.directives) {
      const rule = checkNext(placed);
      if (rule !== undefined) return faultAt(placed.position, rule);
      directives.push(placed);
    }
    if (orders.prose !== "") prose.push(orders.prose);
  }
  return { directives, prose: prose.join("\n") };
}

function placeOf(message: number, of: number): string {
  if (message === 0) return "in the directives left from the previous turn, at";
  return of === 1 ? "at" : `message ${message} of ${of}, at`;
}

/** Returns the rule that a directive breaks because of the directives before it. Call it in order. */
function sequenceCheck(plan: Plan | undefined): (placed: PlacedDirective) => string | undefined {
  let steps = plan && stepsLeft(plan);
  let length = 0;
  return ({ directive, source }) => {
    length += source.length;
    if (length > lengthMax)
      return `the directives of a turn, with those left from the previous turn, may have at most ${lengthMax} characters`;
    if (directive.name === "plan") steps = directive.titles.length + 1;
    if (directive.name !== "step") return undefined;
    if (steps === undefined) return "step needs a plan before it";
    if (steps === 0) return "the plan has no more steps";
    steps -= 1;
    return undefined;
  };
}
