import { isObject, type Json, type JsonObject } from "../json.ts";
import { checkBounds, rules, schemaFailure, schemasMax, shortenName } from "./bounds.ts";
import { checkKeywords, checkNotCombined, checkObject, parseReference, readEntries, readTypes, type TypeName } from "./keywords.ts";
import type { ReferenceNode, SchemaModel, SchemaNode } from "./node.ts";

/** The state of one parse. */
interface Parse {
  readonly nodes: SchemaNode[];
  readonly definitions: Map<string, SchemaNode>;
  schemas: number;
}

/**
 * Parses a schema place by place and stops at the first that breaks a rule of spec/api.md 9.5.
 * `checkGraph` checks the rules for the schema as a graph, such as infinite recursion.
 *
 * @throws Failure `invalid_argument`, with the place and the rule.
 */
export function readSchema(schema: JsonObject): SchemaModel {
  checkBounds(schema);
  const parse: Parse = { nodes: [], definitions: new Map(), schemas: 0 };
  checkRoot(schema);
  const root = readNode(parse, schema, "");
  if (root.kind !== "object") throw schemaFailure("", rules.rootType);
  return { root, nodes: parse.nodes };
}

function checkRoot(schema: JsonObject): void {
  checkKeywords(schema, "");
  if (schema["type"] === undefined) throw schemaFailure("", rules.type);
  if (schema["type"] !== "object") throw schemaFailure("", rules.rootType);
}

function readNode(parse: Parse, schema: Json, path: string): SchemaNode {
  parse.schemas += 1;
  if (parse.schemas > schemasMax) throw schemaFailure("", `must have at most ${schemasMax} schemas`);
  if (!isObject(schema)) throw schemaFailure(path, rules.schema);
  checkKeywords(schema, path);
  const node = readKind(parse, schema, path);
  const definitions = readNamed(parse, schema["$defs"], path, ".$defs");
  // Definitions elsewhere are valid, but no reference leads to them.
  if (path === "") for (const [name, definition] of definitions) parse.definitions.set(name, definition);
  return node;
}

function readKind(parse: Parse, schema: JsonObject, path: string): SchemaNode {
  const { $ref, anyOf } = schema;
  if ($ref !== undefined) {
    checkNotCombined(schema, "$ref", path);
    return addNode(parse, readReference(parse, $ref, path));
  }
  if (anyOf === undefined) return readTyped(parse, schema, path);
  checkNotCombined(schema, "anyOf", path);
  if (!Array.isArray(anyOf) || anyOf.length === 0) throw schemaFailure(path, rules.schema);
  const branches = anyOf.map((branch, index) => readNode(parse, branch, `${path}.anyOf.${index}`));
  return addNode(parse, { kind: "union", path, branches });
}

/** Looks the target up lazily: definitions are parsed after the nodes that refer to them. */
function readReference({ definitions }: Parse, $ref: Json, path: string): ReferenceNode {
  const name = parseReference($ref);
  return {
    kind: "reference",
    path,
    get target() {
      const target = name === undefined ? undefined : definitions.get(name);
      if (!target) throw schemaFailure(path, rules.schema);
      return target;
    },
  };
}

function readTyped(parse: Parse, schema: JsonObject, path: string): SchemaNode {
  const types = readTypes(schema, path);
  checkObject(schema, types, path);
  if (types.includes("array") && schema["items"] === undefined) throw schemaFailure(path, rules.items);
  const entries = readEntries(schema, types, path);
  const properties = readNamed(parse, schema["properties"], path, "");
  const items = schema["items"] === undefined ? undefined : readNode(parse, schema["items"], `${path}.items`);
  if (entries) return addNode(parse, { kind: "enum", path, entries });
  const branches = types.map((type) => addNode(parse, createNode(type, path, properties, items)));
  const [only] = branches;
  return only && branches.length === 1 ? only : addNode(parse, { kind: "union", path, branches });
}

function createNode(type: TypeName, path: string, properties: ReadonlyMap<string, SchemaNode>, items: SchemaNode | undefined): SchemaNode {
  if (type === "object") return { kind: "object", path, properties };
  if (type !== "array") return { kind: "scalar", path, type };
  if (!items) throw schemaFailure(path, rules.items);
  return { kind: "array", path, items };
}

/** The members of `properties` or `$defs`. Refuses `__proto__`: code that copies values treats it as the prototype. */
function readNamed(parse: Parse, members: Json | undefined, path: string, within: string): ReadonlyMap<string, SchemaNode> {
  if (members !== undefined && !isObject(members)) throw schemaFailure(path, rules.schema);
  const named = new Map<string, SchemaNode>();
  for (const [name, schema] of Object.entries(members ?? {})) {
    const place = `${path}${within}.${shortenName(name)}`;
    if (name === "__proto__") throw schemaFailure(place, rules.schema);
    named.set(name, readNode(parse, schema, place));
  }
  return named;
}

function addNode(parse: Parse, node: SchemaNode): SchemaNode {
  parse.nodes.push(node);
  return node;
}
