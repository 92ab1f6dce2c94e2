import type { Json, JsonObject } from "../json.ts";
import { ranksOf, stepsOf } from "./graph.ts";
import { aliasesOf, leadsTo, type Model, type Node, once, type ScalarType, type UnionNode } from "./node.ts";
import { readSchema } from "./read.ts";

/** A zero value, its parts shared with other zero values, and the most that its JSON takes. */
export interface Zero {
  readonly value: Json;
  readonly bytes: number;
}

const scalarZeros: Readonly<Record<ScalarType, Json>> = { string: "", number: 0, integer: 0, boolean: false, null: null };

/**
 * The value that stands for a failed extraction (contract/v2.md 9.5): text is empty, numbers are 0, arrays have no items,
 * an enum is its first entry, whatever may be null is null, and an object has all its properties at their zero.
 * The schema must be one that `checkSchema` accepts; then the value conforms to it.
 */
export function zeroValue(schema: JsonObject): JsonObject {
  const model = readSchema(schema);
  const zero = zerosOf(model);
  return unshared(Object.fromEntries([...model.root.properties].map(([name, node]) => [name, zero(node).value])));
}

/** The zero value of each node of a schema that is not endless. */
export function zerosOf({ nodes }: Model): (node: Node) => Zero {
  const ranks = ranksOf(nodes);
  const rankOf = (node: Node) => ranks.get(node) ?? Number.POSITIVE_INFINITY;
  /** A branch that leads back here is for later branches to end, unless it is the simpler one itself. */
  const ends = (union: UnionNode) => (branch: Node) => rankOf(branch) < rankOf(union) || !leadsTo(branch, union, stepsOf);
  const mayBeNull = once((node): boolean => {
    if (node.kind === "enum") return node.entries.includes(null);
    return node.kind === "scalar" ? node.type === "null" : aliasesOf(node).some(mayBeNull);
  });
  const zero = once((node): Zero => {
    if (mayBeNull(node)) return plain(null);
    switch (node.kind) {
      case "scalar":
        return plain(scalarZeros[node.type]);
      case "enum":
        return plain(node.entries[0]);
      case "array":
        return plain([]);
      case "object":
        return together([...node.properties].map(([name, part]) => [name, zero(part)]));
      case "union":
        return zero(node.branches.find(ends(node)) ?? node);
      case "reference":
        return zero(node.target);
    }
  });
  return zero;
}

const plain = (value: Json): Zero => ({ value, bytes: bytesOf(value) });

function together(members: readonly (readonly [string, Zero])[]): Zero {
  const sizes = members.map(([name, { bytes }]) => bytesOf(name) + bytes + 2);
  return {
    value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
    bytes: sizes.reduce((sum, size) => sum + size, 2),
  };
}

/** How long a value's JSON is. */
export const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/** A copy in which nothing is shared, so that a change of one part changes no other. */
export const unshared = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value));
