import { type Directive, type Parsed, parseDirective } from "./directives.ts";
import type { Memo } from "./memo.ts";
import { type Plan, stepsLeft } from "./plan.ts";
import { endOfJson } from "./text.ts";

/** A directive with its position. */
export interface PlacedDirective {
  readonly directive: Directive;
  /** The source text, from `[[` to `]]`. */
  readonly source: string;
  /** Offset of its `[[` in the message, from 0, in UTF-16 units. */
  readonly position: number;
}

/** An invalid directive: its position, and the rule that it breaks. */
export interface Fault {
  readonly position: number;
  readonly rule: string;
}

/** All directives of a message, or its first fault; `prose` is the text around them. */
type Orders = { readonly prose: string; readonly directives: readonly PlacedDirective[] } | { readonly fault: Fault };

/**
 * Reads `[[NAME ARG | ARG]]` anywhere in a text, in order. All directives are read before the first is executed, so that
 * an invalid one at the end is found at the start.
 */
export function readDirectives(text: string): Orders {
  const directives: PlacedDirective[] = [];
  let prose = "";
  let from = 0;
  for (let position = text.indexOf("[["); position !== -1; position = text.indexOf("[[", from)) {
    const holdsJson = startsValue(text, position);
    const nests = startsSubtask(text, position);
    const close = holdsJson ? endOfJson(text, position + 2) : nests ? endOfNested(text, position) : text.indexOf("]]", position);
    if (close === -1) return { fault: { position, rule: "a directive ends with ]]" } };
    const body = text.slice(position + 2, close);
    const parsed = holdsJson || nests ? parseDirective(body) : parseFlat(body);
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

/** True when a `value` directive begins here: its JSON may contain brackets. */
function startsValue(text: string, position: number): boolean {
  const value = /\[\[\s*value\s/y;
  value.lastIndex = position;
  return value.test(text);
}

/** True when a `subtask` directive begins here: its message may have directives. */
function startsSubtask(text: string, position: number): boolean {
  const subtask = /\[\[\s*subtask\s/y;
  subtask.lastIndex = position;
  return subtask.test(text);
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

const parseFlat = (body: string): Parsed => (body.includes("[[") ? { rule: "a directive cannot be inside another" } : parseDirective(body));

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
    const orders = checkSequence(readDirectives(text), checkNext);
    if ("fault" in orders) return { fault: `${placeOf(i, messages.length)} position ${orders.fault.position}: ${orders.fault.rule}` };
    directives.push(...orders.directives);
    if (orders.prose !== "") prose.push(orders.prose);
  }
  return { directives, prose: prose.join("\n") };
}

function placeOf(message: number, of: number): string {
  if (message === 0) return "in the directives left from the previous turn, at";
  return of === 1 ? "at" : `message ${message} of ${of}, at`;
}

/** Returns the rule that a directive breaks because of the directives before it. Call it in order. */
type SequenceCheck = (placed: PlacedDirective) => string | undefined;

function checkSequence(orders: Orders, checkNext: SequenceCheck): Orders {
  if ("fault" in orders) return orders;
  for (const placed of orders.directives) {
    const rule = checkNext(placed);
    if (rule !== undefined) return { fault: { position: placed.position, rule } };
  }
  return orders;
}

function sequenceCheck(plan: Plan | undefined): SequenceCheck {
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
