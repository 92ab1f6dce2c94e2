import type { Json } from "../json.ts";
import { must } from "./bounds.ts";

/** The values of `type`. */
export const typeNames = ["string", "number", "integer", "boolean", "null", "object", "array"] as const;
export type TypeName = (typeof typeNames)[number];

export type ScalarType = Exclude<TypeName, "object" | "array">;

/** One place of a schema. A reference may lead to a node that contains it; a path is dotted from the root. */
export interface SchemaNode {
  readonly path: string;
  /** A list of types is a union, as `anyOf`. */
  readonly kind: TypeName | "enum" | "union" | "reference";
  readonly entries: readonly Json[];
  /** They describe the same value as this node: the branches of a union, the target of a reference. */
  readonly branches: readonly SchemaNode[];
  /** The properties of an object by name, the items of an array. */
  readonly parts: ReadonlyMap<string, SchemaNode>;
}

/**
 * A parsed schema. `nodes` has those of definitions too; a node comes before the nodes that contain it.
 * `schemas` are the objects of the JSON that are schemas.
 */
export interface SchemaModel {
  readonly root: SchemaNode;
  readonly nodes: readonly SchemaNode[];
  readonly schemas: ReadonlySet<Json>;
}

/** Every node that a node's own value depends on. */
export const dependenciesOf = ({ branches, parts }: SchemaNode): readonly SchemaNode[] => [
  ...branches,
  ...parts.values(),
];

/** Whether `steps` lead from one node to the other; a node leads to itself. */
export function leadsTo(
  from: SchemaNode,
  to: SchemaNode,
  steps: (node: SchemaNode) => readonly SchemaNode[],
): boolean {
  const seen = new Set([from]);
  for (const node of seen) for (const next of steps(node)) seen.add(next);
  return seen.has(to);
}

/** Memoizes a function of a node. It must not call itself for the same node. */
export function memoizeByNode<T>(compute: (node: SchemaNode) => T): (node: SchemaNode) => T {
  const results = new Map<SchemaNode, { value: T }>();
  return (node) => {
    const result = results.get(node) ?? { value: compute(node) };
    results.set(node, result);
    return result.value;
  };
}

/**
 * The rules for a schema as a graph (spec/api.md 9.5): references have a target, recursion passes through
 * a part of the value, each node has a finite value, and objects and arrays nest at most five levels.
 *
 * @throws Failure `invalid_argument`, with the place and the rule.
 */
export function checkGraph({ root, nodes }: SchemaModel): void {
  const leadsBack = (steps: (node: SchemaNode) => readonly SchemaNode[]) => (node: SchemaNode) =>
    node.kind === "reference" && node.branches.some((target) => leadsTo(target, node, steps));
  for (const node of nodes) must(!leadsBack(({ branches }) => branches)(node), node.path);
  const recursive = new Set(nodes.filter(leadsBack(dependenciesOf)));
  const ranks = ranksOf(nodes);
  // A node without a finite value always leads to such a reference.
  for (const node of recursive) must(ranks.has(node), node.path);
  checkNesting([root, ...nodes], recursive);
}

/**
 * A node's rank is the number of steps from a scalar, an empty array or null to its simplest value. A node
 * without a finite value has no rank; an object ranks above all its properties, a union and a reference above
 * the node of their value.
 */
export function ranksOf(nodes: readonly SchemaNode[]): ReadonlyMap<SchemaNode, number> {
  const ranks = new Map<SchemaNode, number>();
  const isRanked = (node: SchemaNode) => ranks.has(node);
  const isReady = ({ kind, branches, parts }: SchemaNode) =>
    kind === "object"
      ? [...parts.values()].every(isRanked)
      : branches.length === 0 || branches.some(isRanked);
  for (let rank = 0; ; rank += 1) {
    const ready = nodes.filter((node) => !isRanked(node) && isReady(node));
    if (ready.length === 0) return ranks;
    for (const node of ready) ranks.set(node, rank);
  }
}

const nestingMax = 5;

/** Counts levels through references too, except recursive ones. */
function checkNesting(nodes: readonly SchemaNode[], recursive: ReadonlySet<SchemaNode>): void {
  const levelOf = ({ kind }: SchemaNode) => (kind === "object" || kind === "array" ? 1 : 0);
  const children = (node: SchemaNode) => (recursive.has(node) ? [] : dependenciesOf(node));
  const height = memoizeByNode((node): number => levelOf(node) + Math.max(0, ...children(node).map(height)));
  let level = 0;
  for (let node = nodes.find((node) => height(node) > nestingMax); node; ) {
    level += levelOf(node);
    must(
      level <= nestingMax,
      node.path,
      `must not nest objects and arrays more than ${nestingMax} levels deep`,
    );
    node = children(node).toSorted((a, b) => height(b) - height(a))[0];
  }
}
