import { invalidArgument } from "./failure.ts";

// Patterns whose time grows with the length of the text alone: the simulation of an automaton (Thompson,
// "Regular Expression Search Algorithm", 1968). A RegExp backtracks: a pattern of a model or a user could
// stop the process.

/** Tells whether a text has a match. */
export type Matches = (text: string) => boolean;

/** The most characters of a pattern, and the most states of its automaton. */
const lengthMax = 500;
const statesMax = 1_000;

type State =
  | { readonly kind: "one"; readonly has: (code: number) => boolean; readonly next: number }
  | { readonly kind: "both"; readonly next: readonly [number, number] }
  | { readonly kind: "at"; readonly holds: (text: string, at: number) => boolean; readonly next: number }
  | { readonly kind: "end" };

/** Builds the states of a part of a pattern, before the state `next`. Returns its first state. */
type Piece = (next: number) => number;

/**
 * Compiles a regular expression: characters, `.`, `[a-z]`, `\d \w \s \b` and their opposites, `^`, `$`,
 * groups, `|`, `* + ?` and `{1,3}`. A match may be anywhere in the text.
 *
 * @throws Failure `invalid_argument` for a pattern that is invalid, too long, or has what needs backtracking.
 */
export function compilePattern(pattern: string, { ignoreCase = false } = {}): Matches {
  if (pattern.length > lengthMax) throw wrong(`must have at most ${lengthMax} characters`);
  const plain = ignoreCase ? pattern.toLowerCase() : pattern;
  if (!/[\\^$.*+?()[\]{}|]/.test(pattern))
    return (text) => (ignoreCase ? text.toLowerCase() : text).includes(plain);
  const states: State[] = [{ kind: "end" }];
  const parser = new Parser(pattern, ignoreCase, states);
  const first = parser.parse()(0);
  return (text) => runs(states, first, text);
}

/** Compiles a glob of any texts: `*` is any number of characters, `?` is one, and all others are themselves. */
export const compileTextGlob = (glob: string): Matches =>
  compilePattern(
    `^${glob.replaceAll(/\*+|./gs, (part) => (part[0] === "*" ? ".*" : part === "?" ? "." : literal(part)))}$`,
  );

/** A character in a pattern. */
const literal = (one: string): string => (/\w|[^ -~]|\s/.test(one) ? one : `\\${one}`);

/**
 * Compiles a glob of paths: `?` is one character and `*` any number, but not `/`; `**` has `/` too; `{a,b}` is
 * one of these, `[ab]` one of these characters.
 *
 * @throws Failure `invalid_argument` as `compilePattern`.
 */
export function compileGlob(glob: string): Matches {
  let depth = 0;
  const regex = glob.replaceAll(/\*\*\/|\*+|\[!?[^\]]+\]|./gs, (part) => {
    if (part === "**/") return "(.*/)?";
    if (part.startsWith("**")) return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part === "{") depth += 1;
    if (part === "{") return "(";
    if (part === "}" && depth > 0) {
      depth -= 1;
      return ")";
    }
    if (part === "," && depth > 0) return "|";
    if (part.length > 1) return part.replace("[!", "[^").replaceAll("\\", "\\\\");
    return literal(part);
  });
  return compilePattern(`^${regex}$`);
}

const wrong = (rule: string) => invalidArgument("pattern", rule);

/** Runs all states at once: each character of the text is looked at once. */
function runs(states: readonly State[], first: number, text: string): boolean {
  const seen = new Int32Array(states.length).fill(-1);
  let current: number[] = [];
  const pending: number[] = [];
  /** Adds the states that are reached at a place without a character; true at the end of the pattern. */
  function reach(start: number, at: number, into: number[]): boolean {
    pending.push(start);
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      const state = states[index];
      if (!state || seen[index] === at) continue;
      seen[index] = at;
      if (state.kind === "end") return true;
      if (state.kind === "both") pending.push(...state.next);
      else if (state.kind === "one") into.push(index);
      else if (state.holds(text, at)) pending.push(state.next);
    }
    return false;
  }
  for (let at = 0; at <= text.length; at += 1) {
    if (reach(first, at, current)) return true;
    const code = text.charCodeAt(at);
    const following: number[] = [];
    for (const index of current) {
      const state = states[index];
      if (
        state?.kind === "one" &&
        at < text.length &&
        state.has(code) &&
        reach(state.next, at + 1, following)
      )
        return true;
    }
    current = following;
  }
  return false;
}

type Has = (code: number) => boolean;

const isDigit: Has = (code) => code >= 48 && code <= 57;
const isWord: Has = (code) =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const isSpace: Has = (code) => /\s/.test(String.fromCharCode(code));
const not =
  (has: Has): Has =>
  (code) =>
    !has(code);
const classes: Readonly<Record<string, Has>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};
const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };
const isBoundary = (text: string, at: number): boolean =>
  isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));

class Parser {
  #at = 0;
  readonly #pattern: string;
  readonly #ignoreCase: boolean;
  readonly #states: State[];

  constructor(pattern: string, ignoreCase: boolean, states: State[]) {
    this.#pattern = pattern;
    this.#ignoreCase = ignoreCase;
    this.#states = states;
  }

  parse(): Piece {
    const piece = this.#choice();
    if (this.#at < this.#pattern.length) throw wrong(`has an unexpected ) at ${this.#at}`);
    return piece;
  }

  #add(state: State): number {
    if (this.#states.length >= statesMax) throw wrong("is too complex: repeat less");
    return this.#states.push(state) - 1;
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #next(): string {
    const character = this.#pattern[this.#at++];
    if (character === undefined) throw wrong("ends too early");
    return character;
  }

  #choice(): Piece {
    const one = this.#sequence();
    if (!this.#take("|")) return one;
    const other = this.#choice();
    return (next) => this.#add({ kind: "both", next: [one(next), other(next)] });
  }

  #sequence(): Piece {
    const pieces: Piece[] = [];
    while (this.#at < this.#pattern.length && !"|)".includes(this.#pattern[this.#at] ?? ""))
      pieces.push(this.#repeated());
    return (next) => pieces.reduceRight((after, piece) => piece(after), next);
  }

  #repeated(): Piece {
    let piece = this.#single();
    for (;;) {
      const range = this.#range();
      if (!range) return piece;
      // Whether a match is the shortest one makes no difference here.
      this.#take("?");
      piece = this.#times(piece, ...range);
    }
  }

  /** The least and the most repetitions. */
  #range(): readonly [number, number] | null {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    const [all, min, comma, max] = /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(this.#pattern.slice(this.#at)) ?? [];
    if (all === undefined) return null;
    this.#at += all.length;
    return [Number(min), comma === "" ? Number(min) : max === "" ? Number.POSITIVE_INFINITY : Number(max)];
  }

  #times(piece: Piece, min: number, max: number): Piece {
    const optional = (rest: Piece): Piece => {
      return (next) => this.#add({ kind: "both", next: [piece(rest(next)), next] });
    };
    const loop: Piece = (next) => {
      const at = this.#add({ kind: "end" });
      this.#states[at] = { kind: "both", next: [piece(at), next] };
      return at;
    };
    return (next) => {
      let tail: Piece = (after) => after;
      if (max === Number.POSITIVE_INFINITY) tail = loop;
      else for (let times = min; times < Math.min(max, statesMax); times += 1) tail = optional(tail);
      let first = tail(next);
      for (let times = 0; times < Math.min(min, statesMax); times += 1) {
        const before = first;
        first = piece(first);
        // What matches nothing adds no state: its repetitions would cost time without a bound.
        if (first === before) break;
      }
      return first;
    };
  }

  #single(): Piece {
    if (this.#take("(")) return this.#group();
    const character = this.#next();
    if (character === "^") return this.#assert((_, at) => at === 0);
    if (character === "$") return this.#assert((text, at) => at === text.length);
    if (character === ".") return this.#one(() => true);
    if (character === "[") return this.#one(this.#set());
    if ("*+?".includes(character)) throw wrong(`has nothing to repeat before ${character}`);
    if (character !== "\\") return this.#one(this.#cased(this.#is(character)));
    const escaped = this.#next();
    if (escaped === "b") return this.#assert(isBoundary);
    if (escaped === "B") return this.#assert((text, at) => !isBoundary(text, at));
    return this.#one(this.#cased(this.#escaped(escaped)));
  }

  #group(): Piece {
    if (!this.#take("?:") && this.#pattern[this.#at] === "?")
      throw wrong("must not have groups that look around or have a name");
    const piece = this.#choice();
    if (!this.#take(")")) throw wrong("has a ( without its )");
    return piece;
  }

  #escaped(character: string): Has {
    if (/[1-9k]/.test(character)) throw wrong("must not refer to an earlier group");
    return classes[character] ?? this.#is(controls[character] ?? character);
  }

  #set(): Has {
    const negated = this.#take("^");
    const parts: Has[] = [];
    while (parts.length === 0 || !this.#take("]")) parts.push(this.#member());
    const has: Has = this.#cased((code) => parts.some((part) => part(code)));
    return negated ? not(has) : has;
  }

  #member(): Has {
    const character = this.#next();
    const from = character === "\\" ? this.#next() : character;
    const known = character === "\\" ? classes[from] : undefined;
    if (known) return known;
    const low = (character === "\\" ? (controls[from] ?? from) : from).charCodeAt(0);
    const isRange = this.#pattern[this.#at] === "-" && this.#pattern[this.#at + 1] !== "]";
    if (!isRange) return (code) => code === low;
    this.#at += 1;
    const last = this.#next();
    const high = (last === "\\" ? this.#next() : last).charCodeAt(0);
    return (code) => code >= low && code <= high;
  }

  #is(character: string): Has {
    const wanted = character.charCodeAt(0);
    return (code) => code === wanted;
  }

  #cased(has: Has): Has {
    if (!this.#ignoreCase) return has;
    return (code) => {
      const character = String.fromCharCode(code);
      return [character, character.toLowerCase(), character.toUpperCase()].some((one) =>
        has(one.charCodeAt(0)),
      );
    };
  }

  #one(has: Has): Piece {
    return (next) => this.#add({ kind: "one", has, next });
  }

  #assert(holds: (text: string, at: number) => boolean): Piece {
    return (next) => this.#add({ kind: "at", holds, next });
  }
}
