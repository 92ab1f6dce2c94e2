import { invalidArgument } from "../failure.ts";

/** The labels of a task: names with texts. */
export type Metadata = Readonly<Record<string, string>>;

export const metadataMax = 16;

/**
 * Metadata after an edit: new pairs are added, known ones replaced, and an empty text removes a pair
 * (spec/api.md 9.14).
 *
 * @throws Failure `invalid_argument` for more than 16 pairs.
 */
export function mergeMetadata(before: Metadata, edit: Metadata): Metadata {
  const pairs = Object.entries({ ...before, ...edit }).filter(([, value]) => value !== "");
  if (pairs.length > metadataMax)
    throw invalidArgument("metadata", `a task has at most ${metadataMax} pairs`);
  return Object.fromEntries(pairs);
}
