import type { Json, JsonObject } from "../json.ts";
import { jsonBytes } from "./bounds.ts";
import {
  dependenciesOf,
  leadsTo,
  memoizeByNode,
  ranksOf,
  type SchemaModel,
  type SchemaNode,
} from "./node.ts";
import { readSchema } from "./read.ts";

/** A zero value, which shares parts with other zero values, and the most bytes that its JSON has. */
export interface ZeroValue {
  readonly value: Json;
  readonly bytes: number;
}

const zeros = { string: "", number: 0, integer: 0, boolean: false, null: null, array: [] };

/**
 * The value of a failed extraction (spec/api.md 9.5). The schema must be one that `checkSchema` accepts; then
 * the value conforms to it.
 */
export function zeroValue(schema: JsonObject): JsonObject {
  const model = readSchema(schema);
  return deepCopy(zeroValues(model)(model.root).value);
}

/**
 * The zero value of each node of a schema without infinite recursion: a nullable value is null, an enum its
 * first entry.
 */
export function zeroValues({ nodes }: SchemaModel): (node: SchemaNode) => ZeroValue {
  const ranks = ranksOf(nodes);
  const rankOf = (node: SchemaNode) => ranks.get(node) ?? Number.POSITIVE_INFINITY;
  const mayBeNull = memoizeByNode(
    ({ kind, entries, branches }): boolean =>
      kind === "null" || entries.includes(null) || branches.some(mayBeNull),
  );
  const zero = memoizeByNode((node): ZeroValue => {
    const { kind, entries, parts } = node;
    if (mayBeNull(node)) return toZero(null);
    if (kind === "object") return combine([...parts].map(([name, part]) => [name, zero(part)]));
    if (kind === "enum") return toZero(entries[0] ?? null);
    if (kind !== "union" && kind !== "reference") return toZero(zeros[kind]);
    // A branch ends the recursion when it ranks below the node or does not lead back to it.
    return zero(
      node.branches.find(
        (branch) => rankOf(branch) < rankOf(node) || !leadsTo(branch, node, dependenciesOf),
      ) ?? node,
    );
  });
  return zero;
}

const toZero = (value: Json): ZeroValue => ({ value, bytes: jsonBytes(value) });

const combine = (members: readonly (readonly [string, ZeroValue])[]): ZeroValue => ({
  value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
  bytes: members.reduce((sum, [name, { bytes }]) => sum + jsonBytes(name) + bytes + 2, 2),
});

/** A deep copy of an object without shared parts, so that a change of one part changes no other. */
export const deepCopy = (value: Json): JsonObject => JSON.parse(JSON.stringify(value));
