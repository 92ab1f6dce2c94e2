import type { JsonObject, JsonValue } from "../json.ts";

/** One place of a schema: its form on the wire, and how its values are read. */
export interface Place {
  readonly wire: JsonObject;
  /** The paths of the objects and arrays on the longest way down, from the top. */
  readonly levels: readonly string[];
  /** Whether a value that came over the wire has the form of this place. */
  fits(value: JsonValue): boolean;
  /** The value without the nulls of absent members. */
  restore(value: JsonValue): JsonValue;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

/** The server's rule (spec/api.md 9.5). */
const levelsMax = 5;

/** What this package cannot send. The path begins with `output`. */
export const fault = (path: string, rule: string): TypeError => new TypeError(`output${path}: ${rule}`);

const typeOf = (value: JsonValue): string =>
  value === null ? "null" : isList(value) ? "array" : typeof value;

const scalars = ["string", "number", "integer", "boolean", "null"];
const isOfType = (value: JsonValue, type: JsonValue): boolean =>
  type === "integer" ? Number.isInteger(value) : scalars.includes(String(type)) && typeOf(value) === type;

const longest = (places: readonly Place[]): readonly string[] =>
  places.reduce<readonly string[]>((most, { levels }) => (levels.length > most.length ? levels : most), []);

function below(path: string, places: readonly Place[]): readonly string[] {
  const levels = [path, ...longest(places)];
  const place = levels[levelsMax];
  if (place !== undefined)
    throw fault(place, `objects and arrays can be nested at most ${levelsMax} levels deep`);
  return levels;
}

/** One of some values; their types, if the schema has none. */
export function entriesPlace(
  entries: readonly JsonValue[],
  type: JsonValue | undefined,
  path: string,
): Place {
  if (entries.length === 0 || entries.some((entry) => typeof entry === "object" && entry !== null))
    throw fault(path, "a fixed value must be a text, a number, a boolean or null");
  const [only, ...others] = new Set(entries.map(typeOf));
  const types = type ?? (others.length === 0 ? only : [only, ...others]);
  const fits = (value: JsonValue) => entries.includes(value);
  return {
    wire: { type: types, enum: [...new Set(entries)] } as JsonObject,
    levels: [],
    fits,
    restore: (value) => value,
  };
}

/** A value of one of several places. */
export const unionPlace = (places: readonly Place[]): Place => ({
  wire: { anyOf: places.map(({ wire }) => wire) },
  levels: longest(places),
  fits: (value) => places.some((place) => place.fits(value)),
  restore: (value) => places.find((place) => place.fits(value))?.restore(value) ?? value,
});

/** A member that may be absent: null on the wire. */
export function optionalPlace(place: Place): Place {
  if (place.fits(null)) return place;
  const { description, ...wire } = place.wire;
  const told = description === undefined ? {} : { description };
  const fits = (value: JsonValue) => value === null || place.fits(value);
  return { ...place, wire: { ...told, ...withNull(wire) }, fits };
}

function withNull(wire: JsonObject): JsonObject {
  const { type, enum: entries, anyOf } = wire;
  if (isList(anyOf)) return { anyOf: [...anyOf, { type: "null" }] };
  if (type === undefined) return { anyOf: [wire, { type: "null" }] };
  return { ...wire, type: [type, "null"].flat(), ...(isList(entries) ? { enum: [...entries, null] } : {}) };
}

/** An object with members, each with a place. `optional` are those that may be absent, and never null. */
export function objectPlace(
  members: ReadonlyMap<string, Place>,
  optional: ReadonlySet<string>,
  path: string,
): Place {
  const names = [...members.keys()];
  const properties = Object.fromEntries(names.map((name) => [name, members.get(name)?.wire]));
  return {
    wire: { type: "object", properties, required: names, additionalProperties: false },
    levels: below(path, [...members.values()]),
    fits: (value) =>
      isObject(value) &&
      Object.keys(value).every((name) => members.has(name)) &&
      names.every((name) => value[name] !== undefined && members.get(name)?.fits(value[name])),
    restore: (value) =>
      isObject(value)
        ? Object.fromEntries(
            Object.entries(value).flatMap(([name, each = null]) =>
              each === null && optional.has(name) ? [] : [[name, members.get(name)?.restore(each) ?? each]],
            ),
          )
        : value,
  };
}

export const arrayPlace = (items: Place, path: string): Place => ({
  wire: { type: "array", items: items.wire },
  levels: below(path, [items]),
  fits: (value) => isList(value) && value.every((item) => items.fits(item)),
  restore: (value) => (isList(value) ? value.map((item) => items.restore(item)) : value),
});

/** A value without parts. */
export const scalarPlace = (type: JsonValue): Place => ({
  wire: { type },
  levels: [],
  fits: (value) => isOfType(value, type),
  restore: (value) => value,
});
