import type { JsonObject } from "../../packages/client/src/index.ts";
import { UsageError } from "./failures.ts";
import type { ClientFlags } from "./parameters.ts";

/** An object of JSON from a flag or standard input. @throws UsageError naming `what` */
export function parseObject(what: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what}: is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`${what}: must be an object of JSON`);
  return value as JsonObject;
}

/** Refuses a change that changes nothing. @throws UsageError */
export function needChange({
  json: _json,
  jq: _jq,
  profile: _profile,
  ...changes
}: ClientFlags & object): void {
  if (Object.values(changes).every((value) => value === undefined))
    throw new UsageError("name at least one change; --help has all");
}

/** `NAME=VALUE` texts as an object. @throws UsageError naming the flag */
export const parsePairs = (flag: string, pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(pairs.map((pair) => parsePair(flag, pair)));

export function parsePair(flag: string, pair: string): readonly [name: string, value: string] {
  const at = pair.indexOf("=");
  if (at < 1) throw new UsageError(`${flag}: must be NAME=VALUE`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
