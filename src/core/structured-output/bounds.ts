import type { Json, JsonObject } from "../json.ts";
import { fault } from "./fault.ts";

const textBytesMax = 64 * 1024;
const nestingMax = 64;

/** How many subschemas a schema may have, itself included. */
export const schemasMax = 1_000;

/** How long the JSON of a schema's zero value may be. */
export const zeroBytesMax = 64 * 1024;

/**
 * Refuses what is too large or too deep to be walked by recursion: every later step may rely on it.
 * The walk itself needs no stack and no more memory than the schema has.
 *
 * @throws Failure `invalid` for a schema of more than 64 kB or nested more than 64 levels deep.
 */
export function checkBounds(schema: JsonObject): void {
  let level: readonly Json[] = [schema];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > nestingMax) throw fault("", `must not be nested more than ${nestingMax} levels deep`);
    values += level.length;
    // Each value takes a byte or more.
    if (values > textBytesMax) throw tooLarge();
    level = level.flatMap(membersOf);
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > textBytesMax) throw tooLarge();
}

const membersOf = (value: Json): Json[] => (value !== null && typeof value === "object" ? Object.values(value) : []);

const tooLarge = () => fault("", `must be at most ${kilobytes(textBytesMax)}`);

/** A size in words. */
export const kilobytes = (bytes: number): string => `${bytes / 1024} kB`;
