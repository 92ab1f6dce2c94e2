import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "../../packages/client/src/index.ts";
import { UsageError } from "../frame/failures.ts";

/** The description of v2 that the installation of this checkout serves at `/openapi.json`. */
let read: JsonObject | undefined;
function openApi(): JsonObject {
  read ??= JSON.parse(readFileSync(new URL("../../api/openapi.json", import.meta.url), "utf8")) as JsonObject;
  return read;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path of members; undefined when there is none. */
const at = (value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>((found, name) => (isObject(found) ? found[name] : undefined), value);

/** A schema without its reference. */
function resolved(schema: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const { $ref } = schema;
  return typeof $ref === "string" ? resolved(at(openApi(), ...$ref.replace("#/", "").split("/"))) : schema;
}

/** The schemas that a value may have. */
function choices(schema: JsonObject | undefined): readonly JsonObject[] {
  const list = schema?.["oneOf"] ?? schema?.["anyOf"] ?? schema?.["allOf"];
  if (!Array.isArray(list)) return schema ? [schema] : [];
  return list.flatMap((each: JsonValue) => choices(resolved(each)));
}

/** The schema of an operation's request; undefined for an operation that the description does not have. */
const requestOf = (operation: string): JsonObject | undefined =>
  resolved(
    at(
      openApi(),
      "paths",
      `/v2/${operation}`,
      "post",
      "requestBody",
      "content",
      "application/json",
      "schema",
    ),
  );

const memberOf = (schema: JsonObject | undefined, name: string): JsonObject | undefined =>
  choices(schema)
    .map((choice) => resolved(at(choice, "properties", name)) ?? resolved(choice["additionalProperties"]))
    .find((found) => found !== undefined);

/** The members of a request, with those of objects in it as `message.content`; at most two levels. */
export function fieldNames(operation: string): readonly string[] {
  const namesOf = (schema: JsonObject | undefined) =>
    choices(schema).flatMap((choice) =>
      Object.keys((at(choice, "properties") as JsonObject | undefined) ?? {}),
    );
  const request = requestOf(operation);
  return namesOf(request).flatMap((name) => [
    name,
    ...namesOf(memberOf(request, name)).map((inner) => `${name}.${inner}`),
  ]);
}

const typesOf = (schema: JsonObject | undefined): ReadonlySet<string> =>
  new Set(
    choices(schema).flatMap(({ type }) =>
      Array.isArray(type) ? type.map(String) : typeof type === "string" ? [type] : [],
    ),
  );

/** A text as the value of a member of this schema. @throws UsageError when the schema takes no such value */
function readText(name: string, schema: JsonObject | undefined, text: string): JsonValue {
  const types = typesOf(schema);
  if (types.size === 0 || types.has("string")) return text;
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if ((types.has("integer") || types.has("number")) && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  if (types.has("null") && text === "null") return null;
  if (types.has("object") || types.has("array")) return parseValue(name, text);
  throw new UsageError(`--field ${name}: must be ${[...types].join(" or ")}`);
}

function parseValue(name: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new UsageError(`--field ${name}: must be JSON`);
  }
}

/** A request that is being put together. */
interface Draft {
  [name: string]: JsonValue | Draft | JsonValue[] | undefined;
}

/**
 * Adds the fields to a request. `NAME=TEXT` has the type that the description says, `NAME:=JSON` is JSON. A
 * dot leads into an object, and a list takes one item from each field with its name.
 *
 * @throws UsageError naming the field
 */
export function withFields(operation: string, request: JsonObject, fields: readonly string[]): JsonObject {
  const draft = structuredClone(request) as Draft;
  for (const field of fields) {
    const [, name = "", isJson, text = ""] = /^([^=:]+)(:)?=([\s\S]*)$/.exec(field) ?? [];
    if (name === "") throw new UsageError(`--field ${field}: must be NAME=VALUE, or NAME:=JSON`);
    place(draft, requestOf(operation), name, name.split("."), (schema) =>
      isJson ? parseValue(name, text) : readText(name, schema, text),
    );
  }
  return draft as JsonObject;
}

function place(
  into: Draft,
  schema: JsonObject | undefined,
  name: string,
  path: readonly string[],
  value: (schema: JsonObject | undefined) => JsonValue,
): void {
  const [first = "", ...rest] = path;
  if (first === "" || first === "__proto__")
    throw new UsageError(`--field ${name}: is not a path of members`);
  const member = memberOf(schema, first);
  if (rest.length > 0) {
    const inner = into[first] ?? {};
    if (typeof inner !== "object" || inner === null || Array.isArray(inner))
      throw new UsageError(`--field ${name}: ${first} is set already`);
    into[first] = inner;
    place(inner as Draft, member, name, rest, value);
    return;
  }
  const list = choices(member).find((choice) => typesOf(choice).has("array"));
  if (list === undefined || typesOf(member).has("string")) {
    into[first] = value(member);
    return;
  }
  const item = value(resolved(list["items"]));
  const items = into[first];
  into[first] = Array.isArray(items) ? [...items, item] : Array.isArray(item) ? [...item] : [item];
}
