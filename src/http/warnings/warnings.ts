import { invalid } from "../../core/failure.ts";
import { nearest } from "../../core/nearest.ts";

/** A member of a request that has no effect. */
export interface IdleMember {
  /** The object that has it, for instance `message.content[0]`; empty for the request itself. */
  readonly path: string;
  /** As the request spells it. */
  readonly name: string;
  /** The names that this object takes; null when the member is known, but has no effect. */
  readonly names: { keys(): Iterable<string> } | null;
}

/** How much one list of warnings may hold. */
interface Room {
  /** Members that are named. */
  readonly members: number;
  /** Characters of all texts together, with what is put between them. */
  readonly characters: number;
}

const answerRoom: Room = { members: 10, characters: 4096 };
const headerRoom: Room = { members: 10, characters: 1024 };
const refusalRoom: Room = { members: 50, characters: 4096 };

/** More are not looked for. */
const countMax = 1000;
const separator = ", ";
/** This many characters are kept free for the text that counts the others. */
const restLength = `${separator}and at least ${countMax} more`.length;

/** The members of one request that have no effect, and the texts about them. One object belongs to one call. */
export class Warnings {
  readonly #members: IdleMember[] = [];
  #count = 0;

  /** The search has reached its limit. */
  get isFull(): boolean {
    return this.#count >= countMax;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** @throws Failure `invalid` that names the members, at most 50 and 4 KiB, when there are any. */
  refuse(): void {
    if (!this.isEmpty) throw invalid("", this.#told(refusalRoom, (text) => text).join(separator));
  }

  add(member: IdleMember): void {
    if (this.#members.length < refusalRoom.members) this.#members.push(member);
    this.#count += 1;
  }

  /** For `warnings` of a JSON answer: at most ten texts; of more members the last text says how many there are. */
  get texts(): readonly string[] {
    return this.#told(answerRoom, (text) => text);
  }

  /** For `X-Request-Warnings`: printable ASCII, at most 1 KiB. */
  get header(): string {
    return this.#told(headerRoom, inAscii).join(separator);
  }

  #told({ members, characters }: Room, written: (text: string) => string): readonly string[] {
    const texts: string[] = [];
    let left = characters - restLength;
    for (const member of this.#members.slice(0, members)) {
      const text = written(textOf(member));
      left -= text.length + separator.length;
      if (left < 0) break;
      texts.push(text);
    }
    const rest = this.#count - texts.length;
    if (rest === 0) return texts;
    if (texts.length === 0) return [`${this.isFull ? "at least " : ""}${rest} members without effect`];
    return [...texts.slice(0, -1), `${texts.at(-1) ?? ""}${separator}and ${this.isFull ? "at least " : ""}${rest} more`];
  }
}

function textOf({ path, name, names }: IdleMember): string {
  const shown = shownName(name);
  if (names === null) return `member "${placed(path, shown)}" has no effect`;
  const meant = shown === hidden ? undefined : nearest(name, names.keys());
  const suggestion = meant === undefined ? "" : `; did you mean "${placed(path, meant)}"?`;
  return `unknown member "${placed(path, shown)}"${suggestion}`;
}

const pathMax = 128;

/** A member with the end of the path to it. */
const placed = (path: string, name: string): string => memberPath(path.length > pathMax ? `…${path.slice(-pathMax)}` : path, name);

/** The path to a member of the object at `path`. */
export const memberPath = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const hidden = "(hidden)";
const nameMax = 64;

/** A name as callers are shown it: at most 64 characters, and none that may be a secret. */
export function shownName(name: string): string {
  if (mayBeSecret(name)) return hidden;
  if (name.length <= nameMax) return name.toWellFormed();
  // A character may be two units of the text.
  const characters = [...name.slice(0, 2 * nameMax)];
  return characters.slice(0, nameMax).join("").toWellFormed();
}

/**
 * Forms of secrets, at any place in a name: keys and workers' credentials (also other vendors' keys with the same
 * prefix), signing secrets, JSON Web Tokens, and what OAuth clients hold. Any other run of 40 such characters
 * with a digit among them is taken for one too.
 */
const secretForms: readonly RegExp[] = [
  /(?<![A-Za-z0-9])[sw]k-[A-Za-z0-9_-]{8}/,
  /whsec_[A-Za-z0-9+/=]{8}/,
  /eyJ[A-Za-z0-9_-]{8}/,
  /(?<![A-Za-z0-9])(?:code|refresh)_[A-Za-z0-9]{16}/,
  /(?<![A-Za-z0-9])secret_[A-Za-z0-9_-]{32}/,
  /(?=[A-Za-z_+/=-]{0,39}\d)[A-Za-z0-9_+/=-]{40}/,
];

/** The first so many characters are looked at; only 64 are shown. */
const mayBeSecret = (name: string): boolean => secretForms.some((form) => form.test(name.slice(0, 256)));

/** Text for a header: all but printable ASCII is written as `\u{…}`. */
const inAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`);
