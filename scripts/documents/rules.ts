import { create, type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import {
  type FieldRules,
  field as fieldRules,
  type StringRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { defined, type Json } from "./schema.ts";

/** The rules of a field. */
export const rulesOf = (field: DescField): FieldRules => getOption(field, fieldRules);

const validator = createValidator();

/** Names of the fields without which a request is refused: their zero value breaks a rule. */
export function requiredFields(message: DescMessage): ReadonlySet<string> {
  const { violations = [] } = validator.validate(message, create(message));
  return new Set(violations.flatMap(({ field: [step] }) => (step?.kind === "field" ? step.name : [])));
}

const count = (value: bigint): number | undefined => (value === 0n ? undefined : Number(value));

/**
 * Keywords for the rules of a text. A character has at least one byte, so a limit in bytes is a limit in
 * characters too.
 */
function textKeywords({ len, minLen, maxLen, maxBytes, pattern, in: words, wellKnown }: StringRules): Json {
  const form =
    wellKnown.case === "email" || wellKnown.case === "uri" || wellKnown.case === "uuid"
      ? wellKnown.case
      : undefined;
  return defined({
    minLength: count(len) ?? count(minLen),
    maxLength: count(len) ?? count(maxLen) ?? count(maxBytes),
    "x-max-bytes": count(maxBytes),
    pattern: pattern === "" ? undefined : pattern,
    enum: words.length === 0 ? undefined : words,
    format: form,
  });
}

interface Range {
  readonly greaterThan: { readonly case: string | undefined; readonly value?: unknown };
  readonly lessThan: { readonly case: string | undefined; readonly value?: unknown };
}

const rangeKeywords = ({ greaterThan, lessThan }: Range): Json =>
  defined({
    minimum: greaterThan.case === "gte" ? Number(greaterThan.value) : undefined,
    exclusiveMinimum: greaterThan.case === "gt" ? Number(greaterThan.value) : undefined,
    maximum: lessThan.case === "lte" ? Number(lessThan.value) : undefined,
    exclusiveMaximum: lessThan.case === "lt" ? Number(lessThan.value) : undefined,
  });

/** Keywords for the rules of a single value. */
export function valueKeywords({ type }: FieldRules): Json {
  switch (type.case) {
    case "string":
      return textKeywords(type.value);
    case "bytes":
      return defined({
        maxLength: type.value.maxLen === 0n ? undefined : 4 * Math.ceil(Number(type.value.maxLen) / 3),
      });
    case "int32":
    case "int64":
    case "uint32":
    case "uint64":
    case "double":
    case "float":
      return rangeKeywords(type.value);
    default:
      return {};
  }
}

/** Keywords for the rules of a list, and the rules of its items. */
export function listRules({ type }: FieldRules): {
  readonly keywords: Json;
  readonly items: FieldRules | undefined;
} {
  if (type.case !== "repeated") return { keywords: {}, items: undefined };
  const { minItems, maxItems, unique, items } = type.value;
  return {
    keywords: defined({
      minItems: count(minItems),
      maxItems: count(maxItems),
      uniqueItems: unique || undefined,
    }),
    items,
  };
}

/** Keywords for the rules of a map, and the rules of its values. */
export function mapRules({ type }: FieldRules): {
  readonly keywords: Json;
  readonly values: FieldRules | undefined;
} {
  if (type.case !== "map") return { keywords: {}, values: undefined };
  const { minPairs, maxPairs, keys, values } = type.value;
  const propertyNames = keys && valueKeywords(keys);
  return {
    keywords: defined({ minProperties: count(minPairs), maxProperties: count(maxPairs), propertyNames }),
    values,
  };
}

/** The largest integer that a JSON number has exactly (spec/api.md 1.1). */
const safe = Number.MAX_SAFE_INTEGER;

/** The schema of a scalar in v2's JSON. */
export function scalarSchema(type: ScalarType): Json {
  switch (type) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "integer", format: "int64", minimum: 0, maximum: safe };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "integer", format: "int64", minimum: -safe, maximum: safe };
    default:
      return { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
  }
}
