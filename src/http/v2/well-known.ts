import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import {
  type FieldMask,
  FieldMaskSchema,
  ListValueSchema,
  NullValue,
  StructSchema,
  type Timestamp,
  TimestampSchema,
  type Value,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import { isObject } from "../../core/json.ts";
import { keyStep } from "../../pipeline/mistakes.ts";
import { FieldError, prefixError, type ReadValue, type WriteValue } from "./scalars.ts";

/** The form of one of Google's types with a special JSON form. */
export interface WellKnown {
  readonly read: ReadValue;
  readonly write: WriteValue;
}

/** Refuses the only JSON input that cannot be written back unchanged: JSON.parse reads 1e999 as Infinity. */
function checkNumbers(json: JsonValue): void {
  if (typeof json === "number" && !Number.isFinite(json)) throw new FieldError("must be a finite number");
  if (typeof json !== "object" || json === null) return;
  let key = "";
  try {
    for (key of Object.keys(json)) checkNumbers(memberOf(json, key));
  } catch (thrown) {
    throw prefixError(Array.isArray(json) ? `[${key}]` : keyStep(key), thrown);
  }
}

// Lists have the keys "0", "1" and so on.
const memberOf = (json: JsonObject | JsonValue[], key: string): JsonValue =>
  (json as JsonObject)[key] ?? null;

function readStruct(json: JsonValue): JsonObject {
  if (!isObject(json)) throw new FieldError("must be an object");
  checkNumbers(json);
  return json;
}

function readValue(json: JsonValue): Value {
  checkNumbers(json);
  return toValue(json);
}

function toValue(json: JsonValue): Value {
  return create(ValueSchema, { kind: kindOf(json) });
}

function kindOf(json: JsonValue): Exclude<Value["kind"], { case: undefined }> {
  if (json === null) return { case: "nullValue", value: NullValue.NULL_VALUE };
  if (typeof json === "string") return { case: "stringValue", value: json };
  if (typeof json === "number") return { case: "numberValue", value: json };
  if (typeof json === "boolean") return { case: "boolValue", value: json };
  if (Array.isArray(json))
    return { case: "listValue", value: create(ListValueSchema, { values: json.map(toValue) }) };
  // fromEntries defines members, so `__proto__` is an ordinary member.
  const fields = Object.fromEntries(Object.entries(json).map(([key, inner]) => [key, toValue(inner)]));
  return { case: "structValue", value: create(StructSchema, { fields }) };
}

function jsonOf({ kind }: Value): JsonValue {
  switch (kind.case) {
    case "structValue":
      return Object.fromEntries(
        Object.entries(kind.value.fields).map(([key, inner]) => [key, jsonOf(inner)]),
      );
    case "listValue":
      return kind.value.values.map(jsonOf);
    case "stringValue":
    case "numberValue":
    case "boolValue":
      return kind.value;
    default:
      return null;
  }
}

function readTimestamp(json: JsonValue): unknown {
  if (typeof json !== "string") throw new FieldError("must be a string");
  try {
    return fromJson(TimestampSchema, json);
  } catch {
    throw new FieldError("must be an RFC 3339 time");
  }
}

/**
 * Writes times in whole milliseconds, which all stored times are, in a fifth of `toJson`'s time: a page of an
 * export has thousands.
 */
function writeTimestamp(time: Timestamp): JsonValue {
  const ms = Number(time.seconds) * 1000 + time.nanos / 1e6;
  if (!Number.isInteger(ms) || ms < firstMs || ms > lastMs) return toJson(TimestampSchema, time);
  const text = new Date(ms).toISOString();
  return time.nanos === 0 ? text.replace(".000Z", "Z") : text;
}

/** The range of times whose year has four digits. */
const firstMs = Date.UTC(1000, 0);
const lastMs = Date.UTC(9999, 11, 31);

/** Reads field names in v2's spelling, separated by commas. */
function readMask(json: JsonValue): FieldMask {
  if (typeof json !== "string") throw new FieldError("must be a string");
  return create(FieldMaskSchema, { paths: json === "" ? [] : json.split(",") });
}

// The value of a field has the type that its writer expects; a Struct in a field is a plain object.
const forms: Readonly<Record<string, WellKnown>> = {
  "google.protobuf.Struct": { read: readStruct, write: (value) => value as JsonObject },
  "google.protobuf.Value": { read: readValue, write: (value) => jsonOf(value as Value) },
  "google.protobuf.Timestamp": { read: readTimestamp, write: (value) => writeTimestamp(value as Timestamp) },
  "google.protobuf.FieldMask": { read: readMask, write: (value) => (value as FieldMask).paths.join() },
};
const withoutSpecialForm: ReadonlySet<string> = new Set(["google.protobuf.Empty"]);

/**
 * The form of one of Google's types; undefined for every other message.
 *
 * @throws Error when v2 has no form for it: a mistake in `proto/`, reported at the start.
 */
export function wellKnownForm({ typeName }: DescMessage): WellKnown | undefined {
  if (!typeName.startsWith("google.protobuf.") || withoutSpecialForm.has(typeName)) return undefined;
  const form = forms[typeName];
  if (!form) throw new Error(`${typeName} has no v2 form`);
  return form;
}
