import { isObject, type Json, type JsonObject } from "../json.ts";
import { checkBounds, must, rules, shortenName } from "./bounds.ts";
import {
  checkKeywords,
  checkNotCombined,
  checkObject,
  parseReference,
  readEntries,
  readTypes,
} from "./keywords.ts";
import type { SchemaModel, SchemaNode, TypeName } from "./node.ts";

const schemasMax = 1_000;

interface Parse {
  readonly nodes: SchemaNode[];
  readonly definitions: Map<unknown, SchemaNode>;
  readonly schemas: Set<Json>;
}

/**
 * Parses a schema place by place and stops at the first that breaks a rule of spec/api.md 9.5.
 * `checkGraph` checks the rules for the schema as a graph, such as infinite recursion.
 *
 * @throws Failure `invalid_argument`, with the place and the rule.
 */
export function readSchema(schema: JsonObject): SchemaModel {
  checkBounds(schema);
  checkKeywords(schema, "");
  must(schema["type"] !== undefined, "", rules.type);
  must(schema["type"] === "object", "", rules.rootType);
  const parse: Parse = { nodes: [], definitions: new Map(), schemas: new Set() };
  return { root: readNode(parse, schema, ""), ...parse };
}

function readNode(parse: Parse, schema: Json, path: string): SchemaNode {
  parse.schemas.add(schema);
  must(parse.schemas.size <= schemasMax, "", `must have at most ${schemasMax} schemas`);
  must(isObject(schema), path);
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
    const name = parseReference($ref);
    return addNode(parse, {
      ...empty,
      kind: "reference",
      path,
      // Looked up lazily: definitions are parsed after the nodes that refer to them.
      get branches() {
        const target = parse.definitions.get(name);
        must(target, path);
        return [target];
      },
    });
  }
  if (anyOf === undefined) return readTyped(parse, schema, path);
  checkNotCombined(schema, "anyOf", path);
  must(Array.isArray(anyOf) && anyOf.length > 0, path);
  return addUnion(
    parse,
    path,
    anyOf.map((branch, index) => readNode(parse, branch, `${path}.anyOf.${index}`)),
  );
}

const empty = { entries: [], branches: [], parts: new Map<string, SchemaNode>() } as const;

function addNode(parse: Parse, node: SchemaNode): SchemaNode {
  parse.nodes.push(node);
  return node;
}

const addUnion = (parse: Parse, path: string, branches: readonly SchemaNode[]): SchemaNode =>
  addNode(parse, { ...empty, kind: "union", path, branches });

function readTyped(parse: Parse, schema: JsonObject, path: string): SchemaNode {
  const types = readTypes(schema, path);
  const { items, enum: listed } = schema;
  checkObject(schema, types, path);
  must(!types.includes("array") || items !== undefined, path, rules.items);
  const entries = listed === undefined ? undefined : readEntries(listed, types, path);
  const parts: Partial<Record<TypeName, SchemaNode["parts"]>> = {
    object: readNamed(parse, schema["properties"], path, ""),
    array: new Map(items === undefined ? [] : [["items", readNode(parse, items, `${path}.items`)]]),
  };
  if (entries) return addNode(parse, { ...empty, kind: "enum", path, entries });
  const nodes = types.map((kind) =>
    addNode(parse, { ...empty, kind, path, parts: parts[kind] ?? empty.parts }),
  );
  const [only] = nodes;
  return only && nodes.length === 1 ? only : addUnion(parse, path, nodes);
}

/**
 * The members of `properties` or `$defs`. Refuses `__proto__`: code that copies values treats it as the
 * prototype.
 */
function readNamed(
  parse: Parse,
  members: Json = {},
  path: string,
  within: string,
): ReadonlyMap<string, SchemaNode> {
  must(isObject(members), path);
  return new Map(
    Object.entries(members).map(([name, schema]) => {
      const place = `${path}${within}.${shortenName(name)}`;
      must(name !== "__proto__", place);
      return [name, readNode(parse, schema, place)];
    }),
  );
}
