import { invalid } from "../failure.ts";

/** Estimated tokens of user text in one request (contract/v2.md 9.6). */
const tokensMax = 5000;
/** A task keeps so many references, the most recent ones (contract/v2.md 9.8). */
const referencesMax = 20;
const titleMax = 80;

/** What a user sends to a task, as every wire form gives it. */
export interface UserInput {
  /** All text parts, a line feed between them. */
  readonly text: string;
  readonly references: readonly string[];
}

/** The contract's estimate: four ASCII characters make a token, any other character is one. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let others = 0;
  for (const character of text) {
    if (character < "\u0080") ascii += 1;
    else others += 1;
  }
  return Math.ceil(ascii / 4) + others;
}

/** @throws Failure `invalid` for an empty or an over-long text. */
export function checkText(text: string): void {
  if (text.trim() === "") throw invalid("message.content", "must not be empty");
  const tokens = estimateTokens(text);
  if (tokens > tokensMax) throw invalid("message.content", `the text is about ${tokens} tokens long, at most ${tokensMax} are accepted`);
}

/** The first line with text in it, at most 80 characters: the title until the agent gives another. */
export function titleOf(text: string): string {
  const line = text.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  const characters = [...line.trim()];
  return characters.length <= titleMax ? characters.join("") : `${characters.slice(0, titleMax - 1).join("")}…`;
}

/** Adds references to those a task has: repeats and the task itself are dropped, the newest are kept. */
export function addReferences(present: readonly string[], added: readonly string[], self: string): readonly string[] {
  const fresh = [...new Set(added)].filter((id) => id !== self);
  return [...present.filter((id) => !fresh.includes(id)), ...fresh].slice(-referencesMax);
}

/** A BCP 47 tag in its canonical spelling; the account's own for anything else (contract/v2.md 14.2). */
export function localeOf(wanted: string | undefined, account: string): string {
  try {
    return Intl.getCanonicalLocales(wanted)[0] ?? account;
  } catch {
    return account;
  }
}
