import { invalid } from "../failure.ts";
import type { Attachment } from "../files/attachment.ts";
import type { WantedMeans } from "./means.ts";

/** Estimated tokens of user text in one request (contract/v2.md 9.6). */
const tokensMax = 5000;
/** A task keeps so many references, the most recent ones (contract/v2.md 9.8). */
const referencesMax = 20;
const titleMax = 80;

/** What a user sends to a task, as every wire form gives it. */
export interface UserInput {
  /** The text parts, in order. */
  readonly texts: readonly string[];
  readonly references: readonly string[];
  /** The files that came with it, in order. */
  readonly attachments?: readonly Attachment[];
  /** One of them is speech. */
  readonly spoken?: boolean;
  /** What it names for the task to use. */
  readonly means?: WantedMeans;
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

/**
 * The message that the parts make, a line feed between them. Only what the user
 * wrote counts toward the limit (contract/v2.md 9.6); files may come without a word (14.2).
 *
 * @param path the field that is named where it is refused.
 * @throws Failure `invalid` for an over-long text, and for an empty one without files.
 */
export function messageText(
  { texts, attachments = [] }: { readonly texts: readonly string[]; readonly attachments?: readonly unknown[] },
  path = "message.content",
): string {
  const written = texts.join("");
  if (written.trim() === "" && attachments.length === 0) throw invalid(path, "must not be empty");
  // The estimate is at least a quarter of the length: nobody counts through megabytes.
  if (written.length > 4 * tokensMax || estimateTokens(written) > tokensMax) {
    throw invalid(path, `must be at most ${tokensMax} estimated tokens`);
  }
  return texts.join("\n");
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
