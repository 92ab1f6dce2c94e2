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
  readonly properties: ReadonlyMap<string, Node>;
}

export interface ArrayNode {
  readonly kind: "array";
  readonly path: string;
  readonly items: Node;
}

/** `anyOf`, and a list of types: one branch for each. */
export interface UnionNode {
  readonly kind: "union";
  readonly path: string;
  readonly branches: readonly Node[];
}

export interface ReferenceNode {
  readonly kind: "reference";
  readonly path: string;
  readonly target: Node;
}

/** One place of a schema. References may lead back to where they stand in; a path is dotted from the root. */
export type Node = ScalarNode | EnumNode | ObjectNode | ArrayNode | UnionNode | ReferenceNode;

/** A schema that was read: its root, and every node it has, definitions included, each before what it is part of. */
export interface Model {
  readonly root: ObjectNode;
  readonly nodes: readonly Node[];
}

/** Nodes that describe the same value as this one: its branches, its target. */
export function aliasesOf(node: Node): readonly Node[] {
  if (node.kind === "union") return node.branches;
  return node.kind === "reference" ? [node.target] : [];
}

/** Nodes that describe a part of this node's value. */
export function partsOf(node: Node): readonly Node[] {
  if (node.kind === "object") return [...node.properties.values()];
  return node.kind === "array" ? [node.items] : [];
}

/** Whether the steps lead from one node to the other; a node leads to itself. */
export function leadsTo(from: Node, to: Node, steps: (node: Node) => readonly Node[]): boolean {
  const seen = new Set<Node>([from]);
  for (const node of seen) for (const next of steps(node)) seen.add(next);
  return seen.has(to);
}

/** Works out an answer once for each node. The answer must not need itself. */
export function once<T>(answer: (node: Node) => T): (node: Node) => T {
  const answers = new Map<Node, { readonly answer: T }>();
  return (node) => {
    const known = answers.get(node) ?? { answer: answer(node) };
    answers.set(node, known);
    return known.answer;
  };
}
