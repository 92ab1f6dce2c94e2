import type { Caller } from "../accounts/caller.ts";
import { invalidArgument } from "../failure.ts";
import type { ImportedKey, ImportedKind, ImportSource } from "./imported-object.ts";

/** @throws Failure `invalid_argument` for a text that is not an origin in its normal form. */
export function checkOrigin(path: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.origin !== text)
    throw invalidArgument(path, "must be an origin, for example https://agents.example.com");
  return text;
}

/** The key of an object of the caller. @throws Failure `invalid_argument` for an origin that is none. */
export function keyOf(
  { accountId, spaceId }: Caller,
  kind: ImportedKind,
  { origin, id }: ImportSource,
): ImportedKey {
  return { accountId, spaceId, kind, origin: checkOrigin("source.origin", origin), sourceId: id };
}
