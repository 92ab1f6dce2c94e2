import { rules, schemaFailure } from "./bounds.ts";

/** Types without parts. */
export const scalarTypes = ["string", "number", "integer", "boolean", "null"] as const;
export type ScalarType = (typeof scalarTypes)[number];

/** Values without parts. */
export type Scalar = string | number | boolean | null;

export interface ScalarNode {
  readonly kind: "scalar";
  readonly path: string;
  readonly type: ScalarType;
}

export interface EnumNode {
  readonly kind: "enum";
  readonly path: string;
  readonly entries: readonly [Scalar, ...Scalar[]];
}

export interface ObjectNode {
  readonly kind: "object";
  readonly path: string;
  readonly properties: ReadonlyMap<string, SchemaNode>;
}

export interface ArrayNode {
  readonly kind: "array";
  readonly path: string;
  readonly items: SchemaNode;
}

/** `anyOf`, and a list of types: one branch for each. */
export interface UnionNode {
  readonly kind: "union";
  readonly path: string;
  readonly branches: readonly SchemaNode[];
}

export interface ReferenceNode {
  readonly kind: "reference";
  readonly path: string;
  readonly target: SchemaNode;
}

/** One place of a schema. A reference may lead to a node that contains it; a path is dotted from the root. */
export type SchemaNode = ScalarNode | EnumNode | ObjectNode | ArrayNode | UnionNode | ReferenceNode;

/** A parsed schema: its root and all of its nodes, definitions included; a node comes before the nodes that contain it. */
export interface SchemaModel {
  readonly root: ObjectNode;
  readonly nodes: readonly SchemaNode[];
}

/** Nodes that describe the same value as this one: the branches of a union, the target of a reference. */
export function aliasesOf(node: SchemaNode): readonly SchemaNode[] {
  if (node.kind === "union") return node.branches;
  return node.kind === "reference" ? [node.target] : [];
}

/** Nodes that describe a part of this node's value. */
function partsOf(node: SchemaNode): readonly SchemaNode[] {
  if (node.kind === "object") return [...node.properties.values()];
  return node.kind === "array" ? [node.items] : [];
}

/** Whether `steps` lead from one node to the other; a node leads to itself. */
export function leadsTo(from: SchemaNode, to: SchemaNode, steps: (node: SchemaNode) => readonly SchemaNode[]): boolean {
  const seen = new Set<SchemaNode>([from]);
  for (const node of seen) for (const next of steps(node)) seen.add(next);
  return seen.has(to);
}

/** Memoizes a function of a node. It must not call itself for the same node. */
export function memoizeByNode<T>(compute: (node: SchemaNode) => T): (node: SchemaNode) => T {
  const results = new Map<SchemaNode, { readonly value: T }>();
  return (node) => {
    const result = results.get(node) ?? { value: compute(node) };
    results.set(node, result);
    return result.value;
  };
}

const nestingMax = 5;

/** Every node that a node's own value depends on. */
export const dependenciesOf = (node: SchemaNode): readonly SchemaNode[] => [...aliasesOf(node), ...partsOf(node)];

/**
 * The rules for a schema as a graph (spec/api.md 9.5): references have a target, recursion passes through
 * a part of the value, each node has a finite value, and objects and arrays nest at most five levels.
 *
 * @throws Failure `invalid_argument`, with the place and the rule.
 */
export function checkGraph({ root, nodes }: SchemaModel): void {
  const references = nodes.filter((node) => node.kind === "reference");
  const circular = references.find((node) => leadsTo(node.target, node, aliasesOf));
  if (circular) throw schemaFailure(circular.path, rules.schema);
  const recursive = new Set(references.filter((node) => leadsTo(node.target, node, dependenciesOf)));
  const ranks = ranksOf(nodes);
  // A node without a finite value always leads to such a reference.
  const infinite = [...recursive].find((node) => !ranks.has(node));
  if (infinite) throw schemaFailure(infinite.path, rules.schema);
  checkNesting([root, ...nodes], recursive);
}

/**
 * A node's rank is the number of steps from a scalar, an empty array or null to its simplest value. A node without a finite
 * value has no rank; an object ranks above all its properties, a union and a reference above the node of their value.
 */
export function ranksOf(nodes: readonly SchemaNode[]): ReadonlyMap<SchemaNode, number> {
  const ranks = new Map<SchemaNode, number>();
  for (let rank = 0; ; rank += 1) {
    const ready = nodes.filter((node) => !ranks.has(node) && isReady(node, ranks));
    if (ready.length === 0) return ranks;
    for (const node of ready) ranks.set(node, rank);
  }
}

function isReady(node: SchemaNode, ranks: ReadonlyMap<SchemaNode, number>): boolean {
  if (node.kind === "object") return partsOf(node).every((part) => ranks.has(part));
  return node.kind === "union" || node.kind === "reference" ? aliasesOf(node).some((alias) => ranks.has(alias)) : true;
}

/** Counts levels through references too, except recursive ones. */
function checkNesting(nodes: readonly SchemaNode[], recursive: ReadonlySet<ReferenceNode>): void {
  const children = (node: SchemaNode) => (node.kind === "reference" && recursive.has(node) ? [] : dependenciesOf(node));
  const height = memoizeByNode((node): number => levelOf(node) + Math.max(0, ...children(node).map(height)));
  let node = nodes.find((node) => height(node) > nestingMax);
  let level = 0;
  while (node) {
    level += levelOf(node);
    if (level > nestingMax) throw schemaFailure(node.path, `must not nest objects and arrays more than ${nestingMax} levels deep`);
    node = children(node).toSorted((a, b) => height(b) - height(a))[0];
  }
}

const levelOf = (node: SchemaNode): number => (node.kind === "object" || node.kind === "array" ? 1 : 0);
