import { type DescField, getOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  type FieldRules,
  field as fieldRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { wireOptions } from "../../src/http/v2/wire.ts";
import { enumRule } from "../../src/pipeline/validate.ts";

const integers = new Set([
  ScalarType.INT32,
  ScalarType.UINT32,
  ScalarType.SINT32,
  ScalarType.FIXED32,
  ScalarType.SFIXED32,
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

const wellKnown: Readonly<Record<string, string>> = {
  "google.protobuf.Struct": "object",
  "google.protobuf.Value": "any JSON",
  "google.protobuf.ListValue": "array",
  "google.protobuf.Timestamp": "string (RFC 3339)",
};

/** Where a type is described, or null for a type that is not. */
export type LinkOf = (typeName: string) => string | null;

/** The type of a field in the JSON of v2, linked to its description. */
export function typeOf(field: DescField, linkOf: LinkOf): string {
  if (field.fieldKind === "map") return "object";
  const one = elementType(field, linkOf);
  const name = field.fieldKind === "list" ? `array of ${one}` : one;
  return wireOptions(field).orNull ? `${name} or null` : name;
}

function elementType(field: DescField, linkOf: LinkOf): string {
  if (field.enum) return "string";
  if (field.message) {
    const { typeName, name } = field.message;
    const link = linkOf(typeName);
    return wellKnown[typeName] ?? (link === null ? name : `[${name}](${link})`);
  }
  if (field.scalar === ScalarType.BOOL) return "boolean";
  if (field.scalar === ScalarType.STRING) return "string";
  if (field.scalar === ScalarType.BYTES) return "string (base64)";
  return field.scalar !== undefined && integers.has(field.scalar) ? "integer" : "number";
}

const range = (min: unknown, max: unknown, unit: string): string[] => {
  if (min !== undefined && max !== undefined && min === max) return [`exactly ${min} ${unit}`];
  if (min !== undefined && max !== undefined) return [`${min} to ${max} ${unit}`];
  if (max !== undefined) return [`at most ${max} ${unit}`];
  return min === undefined ? [] : [`at least ${min} ${unit}`];
};

const positive = (value: bigint | undefined): bigint | undefined =>
  value === undefined || value === 0n ? undefined : value;

/** The rules of a field in words, for instance `required`, `1 to 255 characters`. */
export function rulesOf(field: DescField): readonly string[] {
  const rules = getOption(field, fieldRules);
  const choices = field.enum
    ? [
        enumRule(field)
          .replace("must be one of ", "one of ")
          .replaceAll(/([\w.-]+)(?=,|$)/g, "`$1`"),
      ]
    : [];
  const { empty_sets: _, ...wire } = { empty_sets: "", ...wireOptions(field) };
  return [
    ...(rules.required || mayNotBeEmpty(field, rules) ? ["required"] : []),
    ...choices,
    ...typeRules(rules),
    ...(wire.textOrParts ? ["a string is accepted instead of one text part"] : []),
    ...(wire.date ? ["a date `YYYY-MM-DD` is accepted too"] : []),
    ...(wire.aliases.length > 0
      ? [`also named ${wire.aliases.map((name) => `\`${name}\``).join(", ")}`]
      : []),
    ...(wire.unused ? ["accepted without effect"] : []),
  ];
}

/** Whether a field that is left out counts as empty, and breaks the rule of its length. */
function mayNotBeEmpty(field: DescField, { type }: FieldRules): boolean {
  if (type.case === "repeated") return type.value.minItems > 0n;
  return (
    type.case === "string" &&
    field.presence === FeatureSet_FieldPresence.IMPLICIT &&
    (type.value.minLen > 0n || type.value.len > 0n)
  );
}

function typeRules({ type }: FieldRules): string[] {
  switch (type.case) {
    case "string": {
      const { len, minLen, maxLen, minBytes, maxBytes, in: only, wellKnown: form } = type.value;
      return [
        ...range(positive(len) ?? positive(minLen), positive(len) ?? positive(maxLen), "characters"),
        ...range(positive(minBytes), positive(maxBytes), "bytes"),
        ...(only.length > 0 ? [`one of ${only.map((each) => `\`${each}\``).join(", ")}`] : []),
        ...(form.case === "email" ? ["an e-mail address"] : []),
        ...(form.case === "uri" ? ["a URI"] : []),
        ...(form.case === "uuid" ? ["a UUID"] : []),
      ];
    }
    case "bytes":
      return range(positive(type.value.minLen), positive(type.value.maxLen), "bytes");
    case "repeated": {
      const { minItems, maxItems, unique, items } = type.value;
      const each = items ? typeRules(items).map((rule) => `each ${rule}`) : [];
      return [
        ...range(positive(minItems), positive(maxItems), "items"),
        ...(unique ? ["no item twice"] : []),
        ...each,
      ];
    }
    case "map": {
      const { minPairs, maxPairs, keys, values } = type.value;
      const of = (what: string, rules: FieldRules | undefined) =>
        rules ? typeRules(rules).map((rule) => `each ${what} ${rule}`) : [];
      return [
        ...range(positive(minPairs), positive(maxPairs), "pairs"),
        ...of("key", keys),
        ...of("value", values),
      ];
    }
    case "int32":
    case "int64":
    case "uint32":
    case "uint64":
    case "double":
    case "float": {
      const { lessThan, greaterThan } = type.value;
      const above =
        greaterThan.case === "gte"
          ? [`at least ${greaterThan.value}`]
          : greaterThan.case === "gt"
            ? [`greater than ${greaterThan.value}`]
            : [];
      const below =
        lessThan.case === "lte"
          ? [`at most ${lessThan.value}`]
          : lessThan.case === "lt"
            ? [`less than ${lessThan.value}`]
            : [];
      return greaterThan.case === "gte" && lessThan.case === "lte"
        ? [`${greaterThan.value} to ${lessThan.value}`]
        : [...above, ...below];
    }
    default:
      return [];
  }
}
