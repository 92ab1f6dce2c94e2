import { type Directive, type Parsed, parseDirective } from "./directives.ts";
import { endOfJson } from "./json.ts";

/** A directive where it stands. */
export interface Placed {
  readonly directive: Directive;
  /** As it was written, from `[[` to `]]`. */
  readonly source: string;
  /** Offset of its `[[` in the message, from 0, in UTF-16 units. */
  readonly position: number;
}

/** A directive that cannot be obeyed: where it stands, and the rule it broke. */
export interface Fault {
  readonly position: number;
  readonly rule: string;
}

/** All directives of a message, or its first fault; `prose` is the text around them. */
export type Orders = { readonly prose: string; readonly directives: readonly Placed[] } | { readonly fault: Fault };

/**
 * Reads `[[NAME ARG | ARG]]` anywhere in a text, in order. All are read before the
 * first one is obeyed, so that a mistake at the end is known at the start.
 */
export function readOrders(text: string): Orders {
  const directives: Placed[] = [];
  let prose = "";
  let from = 0;
  for (let position = text.indexOf("[["); position !== -1; position = text.indexOf("[[", from)) {
    const holdsJson = startsValue(text, position);
    const close = holdsJson ? endOfJson(text, position + 2) : text.indexOf("]]", position);
    if (close === -1) return { fault: { position, rule: "a directive ends with ]]" } };
    const body = text.slice(position + 2, close);
    const parsed = holdsJson ? parseDirective(body) : parseFlat(body);
    if ("rule" in parsed) return { fault: { position, rule: parsed.rule } };
    prose += text.slice(from, position);
    from = close + 2;
    directives.push({ directive: parsed, source: text.slice(position, from), position });
  }
  return { prose: (prose + text.slice(from)).trim(), directives };
}

/** The text of a message around its directives; nothing where they cannot be read. */
export function proseOf(text: string): string {
  const orders = readOrders(text);
  return "fault" in orders ? "" : orders.prose;
}

/** Whether JSON follows, which may hold brackets of its own. */
function startsValue(text: string, position: number): boolean {
  const value = /\[\[\s*value\s/y;
  value.lastIndex = position;
  return value.test(text);
}

const parseFlat = (body: string): Parsed =>
  body.includes("[[") ? { rule: "a directive cannot stand inside another" } : parseDirective(body);
