import { invalidArgument } from "../../core/failure.ts";
import { findNearest } from "../../core/nearest.ts";

/** A member of a request that has no effect. */
export interface IgnoredMember {
  /** The object that has it, for instance `message.content[0]`; empty for the request itself. */
  readonly path: string;
  readonly name: string;
  /** The names that this object accepts; null when the member is known, but has no effect. */
  readonly names: { keys(): Iterable<string> } | null;
}

interface Capacity {
  /** Listed members. */
  readonly members: number;
  /** Characters of all texts, including separators. */
  readonly characters: number;
}

const answerCapacity: Capacity = { members: 10, characters: 4096 };
const headerCapacity: Capacity = { members: 10, characters: 1024 };
const refusalCapacity: Capacity = { members: 50, characters: 4096 };

/** The search stops at this number of members. */
const countMax = 1000;
const separator = ", ";
/** Characters reserved for the text that counts the other members. */
const restLength = `${separator}and at least ${countMax} more`.length;

/** The members of one request that have no effect, and their texts. Each call has its own object. */
export class Warnings {
  readonly #members: IgnoredMember[] = [];
  #count = 0;

  /** The search has reached its limit. */
  get isFull(): boolean {
    return this.#count >= countMax;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** @throws Failure `invalid_argument` that names the members, at most 50 and 4 KiB, when there are any. */
  refuse(): void {
    if (!this.isEmpty)
      throw invalidArgument("", this.#textsFor(refusalCapacity, (text) => text).join(separator));
  }

  add(member: IgnoredMember): void {
    if (this.#members.length < refusalCapacity.members) this.#members.push(member);
    this.#count += 1;
  }

  /**
   * For `warnings` of a JSON answer: at most ten texts; the last one counts the members that are not listed.
   */
  get texts(): readonly string[] {
    return this.#textsFor(answerCapacity, (text) => text);
  }

  /** For `X-Request-Warnings`: printable ASCII, at most 1 KiB. */
  get header(): string {
    return this.#textsFor(headerCapacity, inAscii).join(separator);
  }

  #textsFor({ members, characters }: Capacity, encode: (text: string) => string): readonly string[] {
    const texts: string[] = [];
    let left = characters - restLength;
    for (const member of this.#members.slice(0, members)) {
      const text = encode(textOf(member));
      left -= text.length + separator.length;
      if (left < 0) break;
      texts.push(text);
    }
    const rest = this.#count - texts.length;
    if (rest === 0) return texts;
    if (texts.length === 0) return [`${this.isFull ? "at least " : ""}${rest} members without effect`];
    return [
      ...texts.slice(0, -1),
      `${texts.at(-1) ?? ""}${separator}and ${this.isFull ? "at least " : ""}${rest} more`,
    ];
  }
}

function textOf({ path, name, names }: IgnoredMember): string {
  const displayed = shownName(name);
  if (names === null) return `member "${placed(path, displayed)}" has no effect`;
  const nearestName = displayed === hidden ? undefined : findNearest(name, names.keys());
  const suggestion = nearestName === undefined ? "" : `; did you mean "${placed(path, nearestName)}"?`;
  return `unknown member "${placed(path, displayed)}"${suggestion}`;
}

const pathMax = 128;

const placed = (path: string, name: string): string =>
  memberPath(path.length > pathMax ? `…${path.slice(-pathMax)}` : path, name);

/** The path to a member of the object at `path`. */
export const memberPath = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const hidden = "(hidden)";
const nameMax = 64;

/** A name in texts for callers: at most 64 characters, and hidden when it may be a secret. */
export function shownName(name: string): string {
  if (mayBeSecret(name)) return hidden;
  if (name.length <= nameMax) return name.toWellFormed();
  // A character may have two UTF-16 units.
  const characters = [...name.slice(0, 2 * nameMax)];
  return characters.slice(0, nameMax).join("").toWellFormed();
}

/**
 * Forms of secrets at any position in a name: keys and workers' credentials (also other vendors' keys with
 * the same prefix), signing secrets, JSON Web Tokens, and codes, tokens and secrets of OAuth clients. Any
 * other 40 consecutive characters of these kinds with a digit among them also count as a secret.
 */
const secretForms: readonly RegExp[] = [
  /(?<![A-Za-z0-9])[sw]k-[A-Za-z0-9_-]{8}/,
  /whsec_[A-Za-z0-9+/=]{8}/,
  /eyJ[A-Za-z0-9_-]{8}/,
  /(?<![A-Za-z0-9])(?:code|refresh)_[A-Za-z0-9]{16}/,
  /(?<![A-Za-z0-9])secret_[A-Za-z0-9_-]{32}/,
  /(?=[A-Za-z_+/=-]{0,39}\d)[A-Za-z0-9_+/=-]{40}/,
];

/** Checks the first 256 characters; at most 64 are shown. */
const mayBeSecret = (name: string): boolean => secretForms.some((form) => form.test(name.slice(0, 256)));

/** Text for a header: characters outside printable ASCII are written as `\u{…}`. */
const inAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`);
