import type { Json, JsonObject } from "../json.ts";
import type { ArrayNode, Node, ObjectNode, ScalarType, UnionNode } from "./node.ts";
import { readSchema } from "./read.ts";
import { type Wording, wordingOf } from "./wording.ts";
import { bytesOf, unshared, type Zero, zerosOf } from "./zero.ts";

const levelsMax = 5;
const spareBytesMax = 16 * 1024;

/** One sampling: where values come from, and how many bytes they may still take beyond the zero value. */
interface Sampling {
  readonly wording: Wording;
  readonly zero: (node: Node) => Zero;
  spareBytes: number;
}

/**
 * A value that conforms to the schema, made from a text: what the offline agent extracts. What the text labels (`total: 7`)
 * goes to properties of that name; other strings are its sentences, other numbers its numbers. An enum is its first entry,
 * arrays have one or two items, what may be null is not, and recursion ends beyond the fifth level or where the value gets
 * too long. The same input gives the same value. The schema must be one that `checkSchema` accepts.
 */
export function sampleValue(schema: JsonObject, text: string): JsonObject {
  const model = readSchema(schema);
  const sampling = { wording: wordingOf(text), zero: zerosOf(model), spareBytes: spareBytesMax };
  return unshared(sampleObject(sampling, model.root, 1));
}

function sample(sampling: Sampling, node: Node, name: string, level: number): Json {
  switch (node.kind) {
    case "scalar":
      return affordable(sampling, node, scalars[node.type](sampling.wording, name));
    case "enum":
      return affordable(sampling, node, node.entries[0]);
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
  const wanted = items.kind === "scalar" && items.type !== "null" ? [2, 1] : [1];
  const count = wanted.find((items) => spend(sampling, node, 2 + items * (sampling.zero(node.items).bytes + 1))) ?? 0;
  return Array.from({ length: count }, () => sample(sampling, items, name, level + 1));
}

/** The first branch that says something: any but null, beyond the fifth level only a scalar. */
function sampleUnion(sampling: Sampling, node: UnionNode, name: string, level: number): Json {
  const says = ({ kind }: Node) => level <= levelsMax || kind === "scalar" || kind === "enum";
  const branch = node.branches.find((branch) => says(branch) && !(branch.kind === "scalar" && branch.type === "null"));
  const isChosen = branch && spend(sampling, node, sampling.zero(branch).bytes);
  return isChosen ? sample(sampling, branch, name, level) : sampling.zero(node).value;
}

const affordable = (sampling: Sampling, node: Node, value: Json): Json =>
  spend(sampling, node, bytesOf(value)) ? value : sampling.zero(node).value;

/** Takes what a value needs beyond the node's zero value, if there is as much. */
function spend(sampling: Sampling, node: Node, bytes: number): boolean {
  const needed = bytes - sampling.zero(node).bytes;
  if (needed > sampling.spareBytes) return false;
  sampling.spareBytes -= needed;
  return true;
}
