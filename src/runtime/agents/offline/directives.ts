/** What a message may order the offline agent to do (contract/decisions.md 19). */
export type Directive =
  | { readonly name: "say"; readonly text: string }
  | { readonly name: "sleep"; readonly seconds: number }
  | { readonly name: "fail"; readonly errorType: string; readonly text: string }
  | { readonly name: "forever" }
  | { readonly name: "crash" };

/** A directive that cannot be obeyed: where it stands, and the rule it broke. */
export interface DirectiveFault {
  /** Offset of its `[[` in the message, from 0, in UTF-16 units. */
  readonly position: number;
  readonly rule: string;
}

/** All directives of a message, or its first fault; `prose` is the text around them. */
export type Orders = { readonly prose: string; readonly directives: readonly Directive[] } | { readonly fault: DirectiveFault };

const secondsMax = 86_400;
/** Directives of later releases: refused by name rather than taken for text. */
const planned = new Set(["think", "plan", "step", "tool", "progress", "file", "ask", "confirm", "credits", "value"]);
const errorTypeForm = /^[a-z][a-z0-9_]{0,63}$/;

type Parsed = { readonly directive: Directive } | { readonly rule: string };

/** Each takes what follows the name, trimmed. */
const parsers: Record<Directive["name"], (rest: string) => Parsed> = {
  say: (text) => (text === "" ? { rule: "say needs a text" } : { directive: { name: "say", text } }),
  sleep: (text) =>
    /^\d+(\.\d+)?$/.test(text) && Number(text) <= secondsMax
      ? { directive: { name: "sleep", seconds: Number(text) } }
      : { rule: `sleep needs seconds, a decimal number from 0 to ${secondsMax}` },
  fail: (rest) => {
    const [, errorType = "", text = ""] = /^([^|\s]*)\s*(?:\|\s*(.*))?$/s.exec(rest) ?? [];
    if (!errorTypeForm.test(errorType)) return { rule: "fail needs an error type in snake case, and may have a text after |" };
    return { directive: { name: "fail", errorType, text: text || "Failed as asked." } };
  },
  forever: (rest) => (rest === "" ? { directive: { name: "forever" } } : { rule: "forever takes no argument" }),
  crash: (rest) => (rest === "" ? { directive: { name: "crash" } } : { rule: "crash takes no argument" }),
};

/**
 * Reads `[[NAME ARG | ARG]]` anywhere in a text, in order. All are read before the
 * first one is obeyed, so that a mistake at the end is known at the start.
 */
export function readOrders(text: string): Orders {
  const directives: Directive[] = [];
  let prose = "";
  let from = 0;
  for (let open = text.indexOf("[["); open !== -1; open = text.indexOf("[[", from)) {
    const close = text.indexOf("]]", open);
    if (close === -1) return { fault: { position: open, rule: "a directive ends with ]]" } };
    const parsed = readDirective(text.slice(open + 2, close));
    if ("rule" in parsed) return { fault: { position: open, rule: parsed.rule } };
    directives.push(parsed.directive);
    prose += text.slice(from, open);
    from = close + 2;
  }
  return { prose: (prose + text.slice(from)).trim(), directives };
}

function readDirective(body: string): Parsed {
  if (body.includes("[[")) return { rule: "a directive cannot stand inside another" };
  const [, name = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(body) ?? [];
  if (planned.has(name)) return { rule: `${name} is not built yet` };
  if (!isName(name)) return { rule: `${shown(name)} is no directive: there are ${Object.keys(parsers).join(", ")}` };
  return parsers[name](rest.trim());
}

const shown = (name: string): string => (name === "" ? "an empty directive" : name.slice(0, 40));
const isName = (name: string): name is Directive["name"] => Object.hasOwn(parsers, name);
