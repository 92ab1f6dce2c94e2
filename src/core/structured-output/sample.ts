import type { Json, JsonObject } from "../json.ts";
import { jsonBytes } from "./bounds.ts";
import type { ArrayNode, ObjectNode, ScalarType, SchemaNode, UnionNode } from "./node.ts";
import { readSchema } from "./read.ts";
import { deepCopy, type ZeroValue, zeroValues } from "./zero.ts";

const textLengthMax = 10_000;
const phraseLengthMax = 80;
const labelsMax = 100;

const numeral = /(?<![\p{L}\p{N}.-])-?\d{1,15}(?:\.\d{1,6})?/gu;
const labelled = /(?<![\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_ ]{0,39}) {0,3}[:=] {0,3}([^\s,;:=](?:[^\n,;.!?]|[.!?](?!\s|$)){0,79})/gu;

/** Values for the fields of a form, taken from a text by the fields' names. */
interface Wording {
  phrase(name: string): string;
  number(name: string): number;
  truth(name: string): boolean;
}

/**
 * Takes values from a text: first what the text labels with the name (`total: 7`, `unit price = 7` for `unitPrice`), else its
 * sentences and numbers round-robin. Without sentences the value is the name; without numbers, the count of words. An
 * unlabelled boolean is true when the text contains the name. The same calls in the same order have the same results.
 */
function createWording(text: string): Wording {
  const start = text.slice(0, textLengthMax).toWellFormed();
  const words = wordsOf(start);
  const labelValue = findLabels(start);
  const phrase = roundRobin(
    start
      .split(/(?<=[.!?])\s+|\n+/)
      .map(toPhrase)
      .filter(Boolean),
  );
  const number = roundRobin(numbersIn(start));
  return {
    phrase: (name) => toPhrase(labelValue(name) ?? phrase() ?? name),
    number: (name) => numbersIn(labelValue(name) ?? "")[0] ?? number() ?? words.split(" ").filter(Boolean).length,
    truth(name) {
      const answer = labelValue(name);
      return answer === undefined ? ` ${words} `.includes(` ${wordsOf(name)} `) : /^(?:yes|true|on)\b/i.test(answer);
    },
  };
}

/** The value after a label whose last words are the name. */
function findLabels(text: string): (name: string) => string | undefined {
  const labels = [...text.matchAll(labelled).take(labelsMax)].map(([, label = "", value = ""]) => ({ label: ` ${wordsOf(label)}`, value }));
  return (name) => {
    const ending = ` ${wordsOf(name)}`;
    return labels.find(({ label }) => label.endsWith(ending))?.value;
  };
}

const numbersIn = (text: string): readonly number[] => [...text.matchAll(numeral)].map(([number]) => Number(number));

/** Lower-case words separated by one space: `unitPrice` and `unit_price` both become `unit price`. */
function wordsOf(name: string): string {
  const spaced = name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ");
  return spaced
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(" ")
    .toLowerCase();
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

/** The state of one sampling: the source of values, and how many bytes they may still add to the zero value. */
interface Sampling {
  readonly wording: Wording;
  readonly zero: (node: SchemaNode) => ZeroValue;
  spareBytes: number;
}

/**
 * A value that conforms to the schema, made from a text: the extraction of the offline agent. What the text labels (`total: 7`)
 * goes to properties of that name; other strings are its sentences, other numbers its numbers. An enum is its first entry,
 * arrays have one or two items, nullable values are not null, and recursion ends after the fifth level or where the value gets
 * too long. The same input gives the same value. The schema must be one that `checkSchema` accepts.
 */
export function sampleValue(schema: JsonObject, text: string): JsonObject {
  const model = readSchema(schema);
  const sampling = { wording: createWording(text), zero: zeroValues(model), spareBytes: spareBytesMax };
  return deepCopy(sampleObject(sampling, model.root, 1));
}

function sample(sampling: Sampling, node: SchemaNode, name: string, level: number): Json {
  switch (node.kind) {
    case "scalar":
      return withinBudget(sampling, node, scalars[node.type](sampling.wording, name));
    case "enum":
      return withinBudget(sampling, node, node.entries[0]);
    case "object":
      return level > levelsMax ? sampling.zero(node).value : sampleObject(sampling, node, level);
    case "array":
      return level > levelsMax ? [] : sampleArray(sampling, node, name, level);
    case "union":
      return sampleUnion(sampling, node, name, level);
    case "reference":
      return sample(sampling, node.target, name, level);
  }
}

const scalars: Readonly<Record<ScalarType, (wording: Wording, name: string) => Json>> = {
  string: (wording, name) => wording.phrase(name),
  number: (wording, name) => wording.number(name),
  integer: (wording, name) => Math.trunc(wording.number(name)),
  boolean: (wording, name) => wording.truth(name),
  null: () => null,
};

function sampleObject(sampling: Sampling, { properties }: ObjectNode, level: number): JsonObject {
  return Object.fromEntries([...properties].map(([name, part]) => [name, sample(sampling, part, name, level + 1)]));
}

function sampleArray(sampling: Sampling, node: ArrayNode, name: string, level: number): Json {
  const { items } = node;
  const counts = items.kind === "scalar" && items.type !== "null" ? [2, 1] : [1];
  const count = counts.find((items) => spend(sampling, node, 2 + items * (sampling.zero(node.items).bytes + 1))) ?? 0;
  return Array.from({ length: count }, () => sample(sampling, items, name, level + 1));
}

/** The first branch with content: any but null; after the fifth level only a scalar. */
function sampleUnion(sampling: Sampling, node: UnionNode, name: string, level: number): Json {
  const hasContent = ({ kind }: SchemaNode) => level <= levelsMax || kind === "scalar" || kind === "enum";
  const branch = node.branches.find((branch) => hasContent(branch) && !(branch.kind === "scalar" && branch.type === "null"));
  const fits = branch && spend(sampling, node, sampling.zero(branch).bytes);
  return fits ? sample(sampling, branch, name, level) : sampling.zero(node).value;
}

const withinBudget = (sampling: Sampling, node: SchemaNode, value: Json): Json =>
  spend(sampling, node, jsonBytes(value)) ? value : sampling.zero(node).value;

/** Reserves the bytes that a value needs beyond the node's zero value; false when too few remain. */
function spend(sampling: Sampling, node: SchemaNode, bytes: number): boolean {
  const needed = bytes - sampling.zero(node).bytes;
  if (needed > sampling.spareBytes) return false;
  sampling.spareBytes -= needed;
  return true;
}
