import { create, type DescMessage, fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
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
import { keyStep } from "../../call/text.ts";
import { below, Misfit } from "./misfit.ts";
import type { ReadValue, WriteValue } from "./scalars.ts";

/** Google's types that have a JSON form of their own. */
export interface WellKnown {
  readonly read: ReadValue;
  readonly write: WriteValue;
}

/** True of a JSON object: no list, no null. */
export const isObject = (json: JsonValue): json is JsonObject => typeof json === "object" && json !== null && !Array.isArray(json);

/** Refuses the one thing in plain JSON that would not come out as it went in: JSON.parse makes Infinity of 1e999. */
function checkNumbers(json: JsonValue): void {
  if (typeof json === "number" && !Number.isFinite(json)) throw new Misfit("must be a finite number");
  if (typeof json !== "object" || json === null) return;
  let key = "";
  try {
    for (key of Object.keys(json)) checkNumbers(memberOf(json, key));
  } catch (thrown) {
    throw below(Array.isArray(json) ? `[${key}]` : keyStep(key), thrown);
  }
}

// Lists have the keys "0", "1" and so on.
const memberOf = (json: JsonObject | JsonValue[], key: string): JsonValue => (json as JsonObject)[key] ?? null;

function readStruct(json: JsonValue): JsonObject {
  if (!isObject(json)) throw new Misfit("must be an object");
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
  if (Array.isArray(json)) return { case: "listValue", value: create(ListValueSchema, { values: json.map(toValue) }) };
  // fromEntries defines members, so that `__proto__` is one like any other.
  const fields = Object.fromEntries(Object.entries(json).map(([key, inner]) => [key, toValue(inner)]));
  return { case: "structValue", value: create(StructSchema, { fields }) };
}

function jsonOf({ kind }: Value): JsonValue {
  switch (kind.case) {
    case "structValue":
      return Object.fromEntries(Object.entries(kind.value.fields).map(([key, inner]) => [key, jsonOf(inner)]));
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
  if (typeof json !== "string") throw new Misfit("must be a string");
  try {
    return fromJson(TimestampSchema, json);
  } catch {
    throw new Misfit("must be an RFC 3339 time");
  }
}

/** Of whole milliseconds, as all of ours are, in a fifth of the time: a page of an export has thousands. */
function writeTimestamp(time: Timestamp): JsonValue {
  const ms = Number(time.seconds) * 1000 + time.nanos / 1e6;
  if (!Number.isInteger(ms) || ms < firstMs || ms > lastMs) return toJson(TimestampSchema, time);
  const text = new Date(ms).toISOString();
  return time.nanos === 0 ? text.replace(".000Z", "Z") : text;
}

/** What has four digits of a year. */
const firstMs = Date.UTC(1000, 0);
const lastMs = Date.UTC(9999, 11, 31);

/** Names of fields as v2 spells them, a comma between. */
function readMask(json: JsonValue): FieldMask {
  if (typeof json !== "string") throw new Misfit("must be a string");
  return create(FieldMaskSchema, { paths: json === "" ? [] : json.split(",") });
}

// A field of one of these types holds nothing else; a Struct in a field is the plain object itself.
const forms: Readonly<Record<string, WellKnown>> = {
  "google.protobuf.Struct": { read: readStruct, write: (value) => value as JsonObject },
  "google.protobuf.Value": { read: readValue, write: (value) => jsonOf(value as Value) },
  "google.protobuf.Timestamp": { read: readTimestamp, write: (value) => writeTimestamp(value as Timestamp) },
  "google.protobuf.FieldMask": { read: readMask, write: (value) => (value as FieldMask).paths.join() },
};
const plain: ReadonlySet<string> = new Set(["google.protobuf.Empty"]);

/**
 * The form of one of Google's types; undefined for every other message.
 *
 * @throws Error when v2 has no form for it: a mistake in `proto/`, found at the start.
 */
export function wellKnown({ typeName }: DescMessage): WellKnown | undefined {
  if (!typeName.startsWith("google.protobuf.") || plain.has(typeName)) return undefined;
  const form = forms[typeName];
  if (!form) throw new Error(`${typeName} has no v2 form`);
  return form;
}
