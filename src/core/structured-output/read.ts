import type { Json, JsonObject } from "../json.ts";
import { checkBounds, schemasMax } from "./bounds.ts";
import { fault, rules, shortened } from "./fault.ts";
import { checkAlone, checkKeywords, checkObject, entriesOf, isObject, referredName, type TypeName, typesOf } from "./keywords.ts";
import type { Model, Node, ReferenceNode } from "./node.ts";

/** What one reading has found so far. */
interface Reading {
  readonly nodes: Node[];
  readonly definitions: Map<string, Node>;
  schemas: number;
}

/**
 * Reads a schema place by place and stops at the first that breaks a rule of contract/v2.md 9.5.
 * What only the whole can break, such as endless recursion, is `checkGraph`'s.
 *
 * @throws Failure `invalid`, with the place and the rule.
 */
export function readSchema(schema: JsonObject): Model {
  checkBounds(schema);
  const reading: Reading = { nodes: [], definitions: new Map(), schemas: 0 };
  checkRoot(schema);
  const root = readNode(reading, schema, "");
  if (root.kind !== "object") throw fault("", rules.rootType);
  return { root, nodes: reading.nodes };
}

function checkRoot(schema: JsonObject): void {
  checkKeywords(schema, "");
  if (schema["type"] === undefined) throw fault("", rules.type);
  if (schema["type"] !== "object") throw fault("", rules.rootType);
}

function readNode(reading: Reading, schema: Json, path: string): Node {
  reading.schemas += 1;
  if (reading.schemas > schemasMax) throw fault("", `must have at most ${schemasMax} schemas`);
  if (!isObject(schema)) throw fault(path, rules.schema);
  checkKeywords(schema, path);
  const node = readKind(reading, schema, path);
  const definitions = readNamed(reading, schema["$defs"], path, ".$defs");
  // Elsewhere they are sound, but no reference leads to them.
  if (path === "") for (const [name, definition] of definitions) reading.definitions.set(name, definition);
  return node;
}

function readKind(reading: Reading, schema: JsonObject, path: string): Node {
  const { $ref, anyOf } = schema;
  if ($ref !== undefined) {
    checkAlone(schema, "$ref", path);
    return keep(reading, readReference(reading, $ref, path));
  }
  if (anyOf === undefined) return readTyped(reading, schema, path);
  checkAlone(schema, "anyOf", path);
  if (!Array.isArray(anyOf) || anyOf.length === 0) throw fault(path, rules.schema);
  const branches = anyOf.map((branch, index) => readNode(reading, branch, `${path}.anyOf.${index}`));
  return keep(reading, { kind: "union", path, branches });
}

/** The target is looked up when it is asked for: definitions are read after what refers to them. */
function readReference({ definitions }: Reading, $ref: Json, path: string): ReferenceNode {
  const name = referredName($ref);
  return {
    kind: "reference",
    path,
    get target() {
      const target = name === undefined ? undefined : definitions.get(name);
      if (!target) throw fault(path, rules.schema);
      return target;
    },
  };
}

function readTyped(reading: Reading, schema: JsonObject, path: string): Node {
  const types = typesOf(schema, path);
  checkObject(schema, types, path);
  if (types.includes("array") && schema["items"] === undefined) throw fault(path, rules.items);
  const entries = entriesOf(schema, types, path);
  const properties = readNamed(reading, schema["properties"], path, "");
  const items = schema["items"] === undefined ? undefined : readNode(reading, schema["items"], `${path}.items`);
  if (entries) return keep(reading, { kind: "enum", path, entries });
  const branches = types.map((type) => keep(reading, nodeOf(type, path, properties, items)));
  const [only] = branches;
  return only && branches.length === 1 ? only : keep(reading, { kind: "union", path, branches });
}

function nodeOf(type: TypeName, path: string, properties: ReadonlyMap<string, Node>, items: Node | undefined): Node {
  if (type === "object") return { kind: "object", path, properties };
  if (type !== "array") return { kind: "scalar", path, type };
  if (!items) throw fault(path, rules.items);
  return { kind: "array", path, items };
}

/** The members of `properties` or `$defs`. `__proto__` is refused: what carries values on takes it for something else. */
function readNamed(reading: Reading, members: Json | undefined, path: string, within: string): ReadonlyMap<string, Node> {
  if (members !== undefined && !isObject(members)) throw fault(path, rules.schema);
  const named = new Map<string, Node>();
  for (const [name, schema] of Object.entries(members ?? {})) {
    const place = `${path}${within}.${shortened(name)}`;
    if (name === "__proto__") throw fault(place, rules.schema);
    named.set(name, readNode(reading, schema, place));
  }
  return named;
}

function keep(reading: Reading, node: Node): Node {
  reading.nodes.push(node);
  return node;
}
