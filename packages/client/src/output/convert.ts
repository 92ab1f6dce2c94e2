import type { JsonObject, JsonValue } from "../json.ts";
import {
  arrayPlace,
  entriesPlace,
  fault,
  isList,
  isObject,
  objectPlace,
  optionalPlace,
  type Place,
  scalarPlace,
  unionPlace,
} from "./place.ts";
import { boundsIn, deciding, describe, unsaid } from "./rules.ts";

/** A definition while it is read: a reference to it from within is recursive. */
interface Open {
  isRecursive: boolean;
  place?: Place;
}

/** What the server takes (spec/api.md 9.5). */
const schemasMax = 1000;
const lengthMax = 65_536;

const typeNames = ["string", "number", "integer", "boolean", "null"];

/**
 * The wire's form of a JSON Schema: only what `structured_output_schema` takes. References are inlined,
 * except recursive ones.
 *
 * @throws TypeError with the path of what cannot be said.
 */
export function toWire(source: unknown): Pick<Place, "wire" | "restore"> {
  if (!isObject(source)) throw fault("", "must have a JSON Schema");
  const root: JsonObject = source;
  const open = new Map<string, Open>();
  const definitions = new Map<string, JsonObject>();
  /** Recursive definitions that were read. */
  const known = new Map<string, Place>();
  let schemas = 0;

  function definitionOf(reference: JsonValue | undefined, path: string): JsonObject {
    if (reference === "#") return root;
    const name = /^#\/\$defs\/([^/]+)$/.exec(String(reference))?.[1];
    const found = name !== undefined && isObject(root["$defs"]) ? root["$defs"][nameIn(name)] : undefined;
    if (!isObject(found)) throw fault(path, `the reference ${String(reference)} leads to no definition`);
    return found;
  }

  /** A schema with the parts of its `allOf`, references among them. */
  function partsOf(schema: JsonObject, path: string): readonly JsonObject[] {
    const { allOf, ...own } = schema;
    const parts = (isList(allOf) ? allOf : []).map((part) => {
      if (!isObject(part)) throw fault(path, "must have a type");
      const { $ref, ...rest } = part;
      return $ref === undefined ? rest : { ...definitionOf($ref, path), ...rest };
    });
    return [own, ...parts.flatMap((part) => (part["allOf"] === undefined ? [part] : partsOf(part, path)))];
  }

  function place(schema: JsonValue | undefined, path: string): Place {
    schemas += 1;
    if (schemas > schemasMax) throw fault("", `can have at most ${schemasMax} schemas`);
    if (!isObject(schema)) throw fault(path, "must have a type");
    const { $ref, ...beside } = schema;
    if ($ref !== undefined) return referred(String($ref), beside, path);
    const parts = partsOf(schema, path);
    const whole = merge(parts, path);
    const made = placeOf(whole, path);
    return { ...made, wire: { ...describe(whole["description"], parts.flatMap(boundsIn)), ...made.wire } };
  }

  function placeOf(schema: JsonObject, path: string): Place {
    const unsayable = unsaid.find((keyword) => schema[keyword] !== undefined);
    if (unsayable !== undefined) throw fault(path, `the keyword "${unsayable}" cannot be sent`);
    const choices = schema["anyOf"] ?? schema["oneOf"];
    if (isList(choices))
      return unionPlace(choices.map((each, index) => place(each, `${path}.anyOf.${index}`)));
    const { const: only, enum: entries = only === undefined ? undefined : [only], type } = schema;
    if (isList(entries)) return entriesPlace(entries, type, path);
    const [first, ...more] = [type ?? []].flat().map((name) => typedPlace(name, schema, path));
    if (!first) throw fault(path, "must have a type");
    // The wire has a list of types.
    return more.length === 0 ? first : { ...unionPlace([first, ...more]), wire: listed([first, ...more]) };
  }

  function typedPlace(type: JsonValue, schema: JsonObject, path: string): Place {
    if (type === "object") return objectOf(schema, path);
    if (type === "array") return arrayPlace(place(schema["items"], `${path}.items`), path);
    if (!typeNames.includes(String(type)))
      throw fault(path, `the type ${JSON.stringify(type)} cannot be sent`);
    return scalarPlace(type);
  }

  function objectOf(
    { properties = {}, required, additionalProperties, propertyNames }: JsonObject,
    path: string,
  ): Place {
    const listed =
      isObject(propertyNames) && isList(propertyNames["enum"]) ? propertyNames["enum"] : undefined;
    const named: JsonObject = listed
      ? Object.fromEntries(listed.map((name) => [name, additionalProperties]))
      : isObject(properties)
        ? properties
        : {};
    const isOpen =
      additionalProperties === true ||
      (isObject(additionalProperties) && Object.keys(additionalProperties).length === 0);
    const isRecord = !listed && (isOpen ? Object.keys(named).length === 0 : isObject(additionalProperties));
    if (isRecord)
      throw fault(
        path,
        "an object with any names cannot be sent: use an array of objects with name and value",
      );
    const needed = new Set(isList(required) ? required : []);
    const own = Object.entries(named).map(
      ([name, schema]) => [name, place(schema, `${path}.${name}`)] as const,
    );
    const members = own.map(([name, each]) => [name, needed.has(name) ? each : optionalPlace(each)] as const);
    const optional = own
      .filter(([name, each]) => !needed.has(name) && !each.fits(null))
      .map(([name]) => name);
    return objectPlace(new Map(members), new Set(optional), path);
  }

  function referred($ref: string, { description, ...beside }: JsonObject, path: string): Place {
    const target = definitionOf($ref, path);
    const within = open.get($ref);
    const place = within
      ? recursion($ref, within)
      : (known.get($ref) ?? expanded($ref, { ...target, ...beside }, path));
    const words = [description, place.wire["description"]]
      .filter((each) => typeof each === "string")
      .join(" ");
    return { ...place, wire: { ...place.wire, ...describe(words, []) } };
  }

  /** A definition that is recursive is sent as one; the root is sent in addition to its definition. */
  function expanded($ref: string, schema: JsonObject, path: string): Place {
    const state: Open = { isRecursive: false };
    open.set($ref, state);
    const made = place(schema, path);
    state.place = made;
    open.delete($ref);
    if (!state.isRecursive) return made;
    definitions.set(nameOf($ref), made.wire);
    known.set($ref, { ...made, wire: { $ref: `#/$defs/${tokenOf($ref)}` } });
    return path === "" ? place(schema, path) : (known.get($ref) ?? made);
  }

  /** A reference to a definition from within. */
  function recursion($ref: string, within: Open): Place {
    within.isRecursive = true;
    return {
      wire: { $ref: `#/$defs/${tokenOf($ref)}` },
      levels: [],
      fits: (value) => within.place?.fits(value) ?? value !== null,
      restore: (value) => within.place?.restore(value) ?? value,
    };
  }

  const tokenOf = ($ref: string): string => ($ref === "#" ? rootName(root) : $ref.slice("#/$defs/".length));
  const nameOf = ($ref: string): string => nameIn(tokenOf($ref));

  const { wire, restore } = expanded("#", root, "");
  if (wire["type"] !== "object") throw fault("", "must be an object; put another value into a member of one");
  const sent = definitions.size === 0 ? wire : { ...wire, $defs: Object.fromEntries(definitions) };
  if (new TextEncoder().encode(JSON.stringify(sent)).length > lengthMax)
    throw fault("", "can have at most 64 kB of JSON");
  return { wire: sent, restore };
}

/** The name in a reference (RFC 6901). */
const nameIn = (token: string): string =>
  decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");

/** A name for the root among the definitions. */
function rootName({ $defs }: JsonObject): string {
  let name = "Root";
  while (isObject($defs) && name in $defs) name += "_";
  return name;
}

/** The wire of several types of one place: `type` is a list. */
function listed(places: readonly Place[]): JsonObject {
  const wire: JsonObject = Object.assign({}, ...places.map((each) => each.wire));
  return { ...wire, type: places.map((each) => each.wire["type"] ?? null) };
}

/** The parts of one schema as one. @throws TypeError when two of them decide the same in different ways. */
function merge(parts: readonly JsonObject[], path: string): JsonObject {
  const whole: Record<string, JsonValue | undefined> = {};
  for (const part of parts)
    for (const [keyword, value] of Object.entries(part)) {
      const before = whole[keyword];
      if (keyword === "properties" && isObject(before) && isObject(value))
        whole[keyword] = mergeMembers(before, value, path);
      else if (keyword === "required" && isList(before) && isList(value))
        whole[keyword] = [...before, ...value];
      else if (
        before !== undefined &&
        deciding.includes(keyword) &&
        JSON.stringify(before) !== JSON.stringify(value)
      )
        throw fault(path, `the parts of "allOf" differ in "${keyword}"`);
      else if (before === undefined) whole[keyword] = value;
    }
  return whole;
}

function mergeMembers(before: JsonObject, more: JsonObject, path: string): JsonObject {
  const twice = Object.keys(more).find(
    (name) => name in before && JSON.stringify(before[name]) !== JSON.stringify(more[name]),
  );
  if (twice !== undefined) throw fault(`${path}.${twice}`, 'the parts of "allOf" differ in this member');
  return { ...before, ...more };
}
