import type { Json, JsonObject } from "../../../core/json.ts";
import { jsonBytes } from "../../../core/structured-output/bounds.ts";
import type { ScalarType, SchemaNode } from "../../../core/structured-output/node.ts";
import { readSchema } from "../../../core/structured-output/read.ts";
import { deepCopy, type ZeroValue, zeroValues } from "../../../core/structured-output/zero.ts";

const textLengthMax = 10_000;
const phraseLengthMax = 80;
const numeral = /(?<![\p{L}\p{N}.-])-?\d{1,15}(?:\.\d{1,6})?/gu;

/**
 * The sentences and the numbers of a text, each round-robin. Without sentences a string is the name, without
 * numbers a number is 0; a boolean is true when the text has the name.
 */
function createWording(text: string): Readonly<Record<ScalarType, (name: string) => Json>> {
  const start = text.slice(0, textLengthMax).toWellFormed();
  const nextPhrase = roundRobin(
    start
      .split(/(?<=[.!?])\s+|\n+/)
      .map(toPhrase)
      .filter(Boolean),
  );
  const nextNumber = roundRobin([...start.matchAll(numeral)].map(([number]) => Number(number)));
  return {
    string: (name) => nextPhrase() ?? toPhrase(name),
    number: () => nextNumber() ?? 0,
    integer: () => Math.trunc(nextNumber() ?? 0),
    boolean: (name) => start.toLowerCase().includes(name.toLowerCase()),
    null: () => null,
  };
}

const toPhrase = (text: string): string =>
  [...text.trim().replaceAll(/\s+/g, " ")].slice(0, phraseLengthMax).join("").trim();

/** Returns the values in order, then again from the first; undefined when there are none. */
function roundRobin<T>(values: readonly T[]): () => T | undefined {
  let count = 0;
  return () => values[count++ % values.length];
}

const levelsMax = 5;
const spareBytesMax = 16 * 1024;

/**
 * A value that conforms to the schema, made from the sentences and numbers of a text: the extraction of the
 * offline agent. An enum is its first entry, arrays have one or two items, nullable values are not null, and
 * recursion ends after the fifth level or where the value gets too long. The same input gives the same value.
 * The schema must be one that `checkSchema` accepts.
 */
export function sampleValue(schema: JsonObject, text: string): JsonObject {
  const model = readSchema(schema);
  return deepCopy(sampler(createWording(text), zeroValues(model))(model.root, "", 1));
}

const isPlain = ({ kind }: SchemaNode) => !["object", "array", "union", "reference"].includes(kind);

/** Samples of nodes: together at most 16 KiB longer than the zero value. */
function sampler(wording: ReturnType<typeof createWording>, zero: (node: SchemaNode) => ZeroValue) {
  let spareBytes = spareBytesMax;
  /** Reserves the bytes that a value needs beyond the node's zero value; false when too few remain. */
  const spend = (node: SchemaNode, bytes: number) => {
    const needed = bytes - zero(node).bytes;
    const fits = needed <= spareBytes;
    if (fits) spareBytes -= needed;
    return fits;
  };
  return function sample(node: SchemaNode, name: string, level: number): Json {
    const { kind, entries, branches, parts } = node;
    const isDeep = level > levelsMax;
    if (kind === "reference") return branches.map((target) => sample(target, name, level))[0] ?? null;
    if (kind === "union") {
      // The first branch with content: any but null; after the fifth level only a scalar.
      const branch = branches.find((branch) => branch.kind !== "null" && (!isDeep || isPlain(branch)));
      return branch && spend(node, zero(branch).bytes) ? sample(branch, name, level) : zero(node).value;
    }
    if (isDeep && !isPlain(node)) return zero(node).value;
    if (kind === "object")
      return Object.fromEntries([...parts].map(([name, part]) => [name, sample(part, name, level + 1)]));
    if (kind === "array")
      return [...parts.values()].flatMap((items) => {
        const counts = isPlain(items) && items.kind !== "null" && items.kind !== "enum" ? [2, 1] : [1];
        const count = counts.find((count) => spend(node, 2 + count * (zero(items).bytes + 1))) ?? 0;
        return Array.from({ length: count }, () => sample(items, name, level + 1));
      });
    const value = kind === "enum" ? (entries[0] ?? null) : wording[kind](name);
    return spend(node, jsonBytes(value)) ? value : zero(node).value;
  };
}
