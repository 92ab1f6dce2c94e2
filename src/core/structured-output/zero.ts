import type { Json, JsonObject } from "../json.ts";
import { jsonBytes } from "./bounds.ts";
import {
  aliasesOf,
  dependenciesOf,
  leadsTo,
  memoizeByNode,
  ranksOf,
  type ScalarType,
  type SchemaModel,
  type SchemaNode,
  type UnionNode,
} from "./node.ts";
import { readSchema } from "./read.ts";

/** A zero value, which shares parts with other zero values, and the most bytes that its JSON has. */
export interface ZeroValue {
  readonly value: Json;
  readonly bytes: number;
}

const scalarZeros: Readonly<Record<ScalarType, Json>> = { string: "", number: 0, integer: 0, boolean: false, null: null };

/**
 * The value of a failed extraction (spec/api.md 9.5): text is empty, numbers are 0, arrays have no items,
 * an enum is its first entry, a nullable value is null, and an object has all its properties at their zero value.
 * The schema must be one that `checkSchema` accepts; then the value conforms to it.
 */
export function zeroValue(schema: JsonObject): JsonObject {
  const model = readSchema(schema);
  const zero = zeroValues(model);
  return deepCopy(Object.fromEntries([...model.root.properties].map(([name, node]) => [name, zero(node).value])));
}

/** The zero value of each node of a schema without infinite recursion. */
export function zeroValues({ nodes }: SchemaModel): (node: SchemaNode) => ZeroValue {
  const ranks = ranksOf(nodes);
  const rankOf = (node: SchemaNode) => ranks.get(node) ?? Number.POSITIVE_INFINITY;
  /** True for a branch that ends the recursion: it does not lead back to the union, or ranks below it. */
  const ends = (union: UnionNode) => (branch: SchemaNode) => rankOf(branch) < rankOf(union) || !leadsTo(branch, union, dependenciesOf);
  const mayBeNull = memoizeByNode((node): boolean => {
    if (node.kind === "enum") return node.entries.includes(null);
    return node.kind === "scalar" ? node.type === "null" : aliasesOf(node).some(mayBeNull);
  });
  const zero = memoizeByNode((node): ZeroValue => {
    if (mayBeNull(node)) return toZero(null);
    switch (node.kind) {
      case "scalar":
        return toZero(scalarZeros[node.type]);
      case "enum":
        return toZero(node.entries[0]);
      case "array":
        return toZero([]);
      case "object":
        return combine([...node.properties].map(([name, part]) => [name, zero(part)]));
      case "union":
        return zero(node.branches.find(ends(node)) ?? node);
      case "reference":
        return zero(node.target);
    }
  });
  return zero;
}

const toZero = (value: Json): ZeroValue => ({ value, bytes: jsonBytes(value) });

function combine(members: readonly (readonly [string, ZeroValue])[]): ZeroValue {
  const sizes = members.map(([name, { bytes }]) => jsonBytes(name) + bytes + 2);
  return {
    value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
    bytes: sizes.reduce((sum, size) => sum + size, 2),
  };
}

/** A deep copy without shared parts, so that a change of one part changes no other. */
export const deepCopy = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value));
