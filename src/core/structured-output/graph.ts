import { fault, rules } from "./fault.ts";
import { aliasesOf, leadsTo, type Model, type Node, once, partsOf, type ReferenceNode } from "./node.ts";

const nestingMax = 5;

/** Every node that a node's own value depends on. */
export const stepsOf = (node: Node): readonly Node[] => [...aliasesOf(node), ...partsOf(node)];

/**
 * The rules that only a whole schema can break (contract/v2.md 9.5): references lead somewhere, recursion passes through
 * a part of the value, each node has a finite value, and objects and arrays nest at most five levels.
 *
 * @throws Failure `invalid`, with the place and the rule.
 */
export function checkGraph({ root, nodes }: Model): void {
  const references = nodes.filter((node) => node.kind === "reference");
  const circular = references.find((node) => leadsTo(node.target, node, aliasesOf));
  if (circular) throw fault(circular.path, rules.schema);
  const recursive = new Set(references.filter((node) => leadsTo(node.target, node, stepsOf)));
  const ranks = ranksOf(nodes);
  // What has no finite value always leads into such a reference.
  const endless = [...recursive].find((node) => !ranks.has(node));
  if (endless) throw fault(endless.path, rules.schema);
  checkNesting([root, ...nodes], recursive);
}

/**
 * How many steps from a scalar, an empty array or null a node's simplest value is. A node without a finite value has no
 * rank; an object ranks above all its properties, a union and a reference above what they take their value from.
 */
export function ranksOf(nodes: readonly Node[]): ReadonlyMap<Node, number> {
  const ranks = new Map<Node, number>();
  for (let rank = 0; ; rank += 1) {
    const ready = nodes.filter((node) => !ranks.has(node) && isReady(node, ranks));
    if (ready.length === 0) return ranks;
    for (const node of ready) ranks.set(node, rank);
  }
}

function isReady(node: Node, ranks: ReadonlyMap<Node, number>): boolean {
  if (node.kind === "object") return partsOf(node).every((part) => ranks.has(part));
  return node.kind === "union" || node.kind === "reference" ? aliasesOf(node).some((alias) => ranks.has(alias)) : true;
}

/** Levels are counted through references too, save those that recur. */
function checkNesting(nodes: readonly Node[], recursive: ReadonlySet<ReferenceNode>): void {
  const below = (node: Node) => (node.kind === "reference" && recursive.has(node) ? [] : stepsOf(node));
  const height = once((node): number => levelOf(node) + Math.max(0, ...below(node).map(height)));
  let place = nodes.find((node) => height(node) > nestingMax);
  let level = 0;
  while (place) {
    level += levelOf(place);
    if (level > nestingMax) throw fault(place.path, `must not nest objects and arrays more than ${nestingMax} levels deep`);
    place = below(place).toSorted((a, b) => height(b) - height(a))[0];
  }
}

const levelOf = (node: Node): number => (node.kind === "object" || node.kind === "array" ? 1 : 0);
