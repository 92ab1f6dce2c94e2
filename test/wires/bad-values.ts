import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { enumNames, wireOptions } from "../../src/http/v2/wire.ts";
import { enumRule } from "../../src/pipeline/validate.ts";
import { type Spot, sampleValue } from "./sample.ts";

/** A value at a position, and the expected text of the refusal after the position. */
export interface Bad {
  readonly what: string;
  readonly value: JsonValue;
  /** A piece of the rule's text. */
  readonly rule: string;
}

const nul = "must not contain U+0000 or a lone surrogate";

/** JSON of a type that a body's field does not accept, and values that an enum does not have. */
export function misfits({ field, item }: Spot): Bad[] {
  const bad = (rule: string, ...values: JsonValue[]): Bad[] =>
    values.map((value) => ({ what: JSON.stringify(value), value, rule }));
  if (field.fieldKind === "list" && !item && wireOptions(field).textOrParts)
    return bad("must be a string or an array of parts", 5, {}, true);
  if (field.fieldKind === "list" && !item) return bad("must be an array", 5, {}, true, "x");
  if (field.fieldKind === "map") return bad("must be an object", "x", 5, [], true);
  if (field.enum)
    return bad(
      enumRule(field),
      "no_such_word",
      1,
      true,
      {},
      [],
      ...(wireOptions(field).emptyIsAbsent ? [] : [""]),
    );
  if (field.message?.typeName === "google.protobuf.Timestamp")
    return [
      ...bad("must be a string", 5, {}),
      ...bad("must be an RFC 3339 time", "yesterday", "2026-13-01T00:00:00Z"),
    ];
  // Any JSON is valid here.
  if (field.message?.typeName === "google.protobuf.Value") return [];
  if (field.message) return bad("must be an object", "x", 5, [], true);
  if (wireOptions(field).date)
    return [
      ...bad("must be Unix seconds, or a date like 2026-01-31", "5"),
      ...bad("must be a whole number", 1.5, true, {}, [], 1e300),
    ];
  return bad(...scalarMisfits(field));
}

function scalarMisfits({ scalar }: DescField): [rule: string, ...JsonValue[]] {
  if (scalar === ScalarType.STRING) return ["must be a string", 5, true, {}, []];
  if (scalar === ScalarType.BOOL) return ["must be true or false", "true", 1, 0, {}, []];
  return ["must be a whole number", "5", 1.5, true, {}, [], 1e300];
}

/**
 * The same for proto3's JSON, which accepts numbers as text, and ignores enum values that a later release may
 * add.
 */
export const protoMisfits = (spot: Spot): Bad[] =>
  misfits(spot).filter(({ value }) => !isProto(spot.field, value));

const isProto = ({ enum: desc, scalar }: DescField, value: JsonValue): boolean =>
  typeof value === "string" ? !!desc || (!!scalar && scalar !== ScalarType.BOOL) : !!desc && value === 1;

/** Texts that not every database and wire can store, at any position. */
export function badTexts({ field, item }: Spot): Bad[] {
  if (field.fieldKind === "list" && !item) return [];
  const bad = (what: string, value: JsonValue): Bad => ({ what, value, rule: nul });
  if (field.fieldKind === "map") {
    const inKey = [
      bad("U+0000 in a key", { "\0": "x" }),
      bad("a lone surrogate in a key", { "\ud800": "x" }),
    ];
    return [
      bad("U+0000 in a value", { a: "\0" }),
      bad("a lone surrogate in a value", { a: "\udc00" }),
      ...inKey,
    ];
  }
  if (field.scalar === ScalarType.STRING) return [bad("U+0000", "a\0b"), bad("a lone surrogate", "a\ud800b")];
  if (field.message?.typeName !== "google.protobuf.Struct") return [];
  return [
    bad("U+0000 in it", { a: "\0" }),
    bad("U+0000 in a list in it", { a: [{ b: "\0" }] }),
    bad("U+0000 in a key", { "\0": 1 }),
    bad("a lone surrogate in it", { a: { b: "\udc00" } }),
    bad("a lone surrogate in a key", { "\ud800": null }),
  ];
}

/** Values just outside the rules that the descriptor states. */
export function outside({ field, item, rules }: Spot): Bad[] {
  const { type } = rules;
  switch (type.case) {
    case "string":
      return outsideText(type.value, emptyRule(field, item));
    case "int32":
    case "int64": {
      const { lessThan, greaterThan } = type.value;
      return [
        ...(lessThan.case === "lte"
          ? [{ what: "one more", value: Number(lessThan.value) + 1, rule: String(lessThan.value) }]
          : []),
        ...(greaterThan.case === "gte"
          ? [{ what: "one less", value: Number(greaterThan.value) - 1, rule: String(greaterThan.value) }]
          : []),
      ];
    }
    case "enum": {
      const { notIn, in: only } = type.value;
      const barred = (field.enum?.values ?? []).filter(
        ({ number }) => notIn.includes(number) || (only.length > 0 && !only.includes(number)),
      );
      return field.enum
        ? barred.map(({ number }) => ({
            what: `the barred ${number}`,
            value: wordOf(field, number),
            rule: enumRule(field),
          }))
        : [];
    }
    case "repeated": {
      const { minItems, maxItems } = type.value;
      const [one = null] = [sampleValue(field)].flat();
      if (item) return [];
      return [
        ...(minItems > 0n ? [{ what: "none", value: [], rule: "is required" }] : []),
        ...(maxItems > 0n
          ? [
              {
                what: "one more",
                value: Array<JsonValue>(Number(maxItems) + 1).fill(one),
                rule: String(maxItems),
              },
            ]
          : []),
      ];
    }
    case "map":
      return [
        {
          what: "one pair more",
          value: pairs(Number(type.value.maxPairs) + 1),
          rule: String(type.value.maxPairs),
        },
      ];
    default:
      return [];
  }
}

/** An object with this many pairs. */
const pairs = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${n}`, "text"]));

const wordOf = ({ enum: desc }: DescField, number: number): string =>
  (desc && enumNames(desc).names.get(number)) ?? "";

/** An empty text equals an absent field, unless the field distinguishes them. */
const emptyRule = ({ presence }: DescField, item: boolean): string =>
  item || presence === FeatureSet_FieldPresence.EXPLICIT ? "must not be empty" : "is required";

/** A fixed set of values in a pattern is reported as such. */
const patternRule = (pattern: string): string => {
  const [, words] = /^\^\(([\w|]+)\)\$$/.exec(pattern) ?? [];
  return words === undefined ? pattern : `must be one of ${words.split("|").join(", ")}`;
};

function outsideText(
  {
    minLen,
    maxLen,
    maxBytes,
    pattern,
    wellKnown,
  }: Extract<Spot["rules"]["type"], { case: "string" }>["value"],
  empty: string,
): Bad[] {
  return [
    ...(minLen > 0n
      ? [
          {
            what: "too short",
            value: "x".repeat(Number(minLen) - 1),
            rule: minLen === 1n ? empty : String(minLen),
          },
        ]
      : []),
    ...(maxBytes > 0n
      ? [{ what: "too many bytes", value: "é".repeat(Number(maxBytes) / 2 + 1), rule: String(maxBytes) }]
      : []),
    ...(maxLen > 0n
      ? [{ what: "too long", value: "x".repeat(Number(maxLen) + 1), rule: String(maxLen) }]
      : []),
    ...(pattern !== "" ? [{ what: "no match", value: "not a match!", rule: patternRule(pattern) }] : []),
    ...(wellKnown.case === "email"
      ? [{ what: "no address", value: "ann at example.com", rule: "email" }]
      : []),
  ];
}

/** Values at the limits of the rules; lengths count characters, not UTF-16 units. */
export function inside({ field, item, rules: { type } }: Spot): JsonValue[] {
  if (type.case === "string" && type.value.pattern === "" && type.value.wellKnown.case !== "email") {
    const { maxLen, maxBytes } = type.value;
    if (maxBytes > 0n) return ["x".repeat(Number(maxBytes)), "é".repeat(Math.floor(Number(maxBytes) / 2))];
    return maxLen > 0n ? ["x".repeat(Number(maxLen)), "😀".repeat(Number(maxLen))] : [];
  }
  if (type.case === "int32" || type.case === "int64") {
    const { lessThan, greaterThan } = type.value;
    return [lessThan, greaterThan].flatMap((bound) =>
      bound.value === undefined ? [] : [Number(bound.value)],
    );
  }
  if (type.case === "repeated" && !item && type.value.maxItems > 0n) {
    const [one = null] = [sampleValue(field)].flat();
    return [Array<JsonValue>(Number(type.value.maxItems)).fill(one)];
  }
  if (type.case === "map") return [pairs(Number(type.value.maxPairs))];
  return [];
}

/** A request in proto3's JSON; v2 has its own enum names. */
export function protoJson(desc: DescMessage, json: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const field = desc.fields.find((other) => other.name === name);
      return [name, field ? protoValue(field, value) : value];
    }),
  );
}

function protoValue(field: DescField, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => protoValue(field, item));
  if (field.enum && typeof value === "string") return enumNames(field.enum).numbers.get(value) ?? value;
  const isNested = field.message && !field.message.typeName.startsWith("google.protobuf.");
  return isNested && typeof value === "object" && value !== null ? protoJson(field.message, value) : value;
}

/** A valid value of an enum, in a list or alone. */
export const sampleEnum = ({ field, item }: Spot): JsonValue =>
  item ? ([sampleValue(field)].flat()[0] ?? null) : sampleValue(field);

/** Puts a value that JSON cannot express into a message. */
export function setRaw(desc: DescMessage, message: Message, steps: Spot["steps"], value: unknown): void {
  const [name, ...rest] = steps;
  const field = desc.fields.find((other) => other.name === name);
  if (!field) throw new Error(`${desc.typeName}: ${name} cannot be set`);
  // A message has the members that its descriptor names.
  const members = message as unknown as Record<string, unknown>;
  if (field.oneof) {
    if (!field.message || rest.length === 0) throw new Error(`${desc.typeName}: ${name} cannot be set`);
    const { value: inner } = members[field.oneof.localName] as { readonly value: Message };
    setRaw(field.message, inner, rest, value);
  } else if (rest.length === 0) members[field.localName] = value;
  else if (rest.length === 1 && rest[0] === 0) members[field.localName] = [value];
  else {
    const held = members[field.localName];
    const inner = Array.isArray(held) ? held[0] : held;
    if (field.message) setRaw(field.message, inner as Message, rest[0] === 0 ? rest.slice(1) : rest, value);
  }
}
