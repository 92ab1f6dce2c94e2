import type { Json, JsonObject } from "../../../core/json.ts";
import { jsonBytes } from "../../../core/structured-output/bounds.ts";
import type { ScalarType, SchemaNode } from "../../../core/structured-output/node.ts";
import { readSchema } from "../../../core/structured-output/read.ts";
import { deepCopy, type ZeroValue, zeroValues } from "../../../core/structured-output/zero.ts";

const textLengthMax = 10_000;
const phraseLengthMax = 80;
const labelsMax = 100;

const numeral = /(?<![\p{L}\p{N}.-])-?\d{1,15}(?:\.\d{1,6})?/gu;
const labelled = /(?<![\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_ ]{0,39}) {0,3}[:=] {0,3}([^\s,;:=](?:[^\n,;.!?]|[.!?](?!\s|$)){0,79})/gu;

/** Values for the fields of a form, taken from a text by the fields' names. */
type Wording = Readonly<Record<ScalarType, (name: string) => Json>>;

/**
 * Takes values from a text: first what the text labels with the name (`total: 7`, `unit price = 7` for `unitPrice`), else its
 * sentences and numbers round-robin. Without sentences the value is the name; without numbers, the count of words. An
 * unlabelled boolean is true when the text contains the name. The same calls in the same order have the same results.
 */
function createWording(text: string): Wording {
  const start = text.slice(0, textLengthMax).toWellFormed();
  const words = wordsOf(start);
  const labels = [...start.matchAll(labelled).take(labelsMax)].map(([, label = "", value = ""]) => ({
    label: ` ${wordsOf(label)}`,
    value,
  }));
  /** The value after a label whose last words are the name. */
  const labelValue = (name: string) => {
    const ending = ` ${wordsOf(name)}`;
    return labels.find(({ label }) => label.endsWith(ending))?.value;
  };
  const sentences = start.split(/(?<=[.!?])\s+|\n+/).map(toPhrase);
  const nextPhrase = roundRobin(sentences.filter(Boolean));
  const nextNumber = roundRobin(numbersIn(start));
  const number = (name: string) => numbersIn(labelValue(name) ?? "")[0] ?? nextNumber() ?? words.split(" ").filter(Boolean).length;
  return {
    string: (name) => toPhrase(labelValue(name) ?? nextPhrase() ?? name),
    number,
    integer: (name) => Math.trunc(number(name)),
    boolean(name) {
      const answer = labelValue(name);
      return answer === undefined ? ` ${words} `.includes(` ${wordsOf(name)} `) : /^(?:yes|true|on)\b/i.test(answer);
    },
    null: () => null,
  };
}

const numbersIn = (text: string): readonly number[] => [...text.matchAll(numeral)].map(([number]) => Number(number));

/** Lower-case words separated by one space: `unitPrice` and `unit_price` both become `unit price`. */
function wordsOf(name: string): string {
  const parts = name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ").split(/[^\p{L}\p{N}]+/u);
  return parts.filter(Boolean).join(" ").toLowerCase();
}

function toPhrase(text: string): string {
  const symbols = [...text.trim().replaceAll(/\s+/g, " ")];
  return symbols.slice(0, phraseLengthMax).join("").trim();
}

/** Returns the values in order, then again from the first; undefined when there are none. */
function roundRobin<T>(values: readonly T[]): () => T | undefined {
  let count = 0;
  return () => values[count++ % values.length];
}

const levelsMax = 5;
const spareBytesMax = 16 * 1024;

/**
 * A value that conforms to the schema, made from a text: the extraction of the offline agent. What the text labels (`total: 7`)
 * goes to properties of that name; other strings are its sentences, other numbers its numbers. An enum is its first entry,
 * arrays have one or two items, nullable values are not null, and recursion ends after the fifth level or where the value gets
 * too long. The same input gives the same value. The schema must be one that `checkSchema` accepts.
 */
export function sampleValue(schema: JsonObject, text: string): JsonObject {
  const model = readSchema(schema);
  return deepCopy(sampler(createWording(text), zeroValues(model))(model.root, "", 1));
}

const isPlain = ({ kind }: SchemaNode) => !["object", "array", "union", "reference"].includes(kind);

/** Samples of nodes: together at most 16 KiB longer than the zero value. */
function sampler(wording: Wording, zero: (node: SchemaNode) => ZeroValue) {
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
    if (kind === "object") return Object.fromEntries([...parts].map(([name, part]) => [name, sample(part, name, level + 1)]));
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
