import { type DescEnum, type DescField, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { joinPath, type Mistakes } from "../../pipeline/mistakes.ts";
import { enumRule } from "../../pipeline/validate.ts";
import { enumNames } from "./wire.ts";

/**
 * A JSON value that is not valid for its field. The reader of the value throws it with the rule; the levels
 * above note it (`noteMistake`).
 */
export class FieldError extends Error {
  override readonly name = "Misfit";
  readonly rule: string;
  readonly path: string;

  constructor(rule: string, path = "") {
    super(rule);
    this.rule = rule;
    this.path = path;
  }
}

/**
 * Adds `step`, a field's name or an index in brackets, to the path of a FieldError; other errors are
 * unchanged.
 */
export function prefixError(step: string, thrown: unknown): unknown {
  if (!(thrown instanceof FieldError)) return thrown;
  return new FieldError(thrown.rule, joinPath(step, thrown.path));
}

/** Notes a FieldError and throws any other error. */
export function noteMistake(thrown: unknown, { mistakes }: ReaderNotes): void {
  if (!(thrown instanceof FieldError)) throw thrown;
  mistakes.add({ path: thrown.path, rule: thrown.rule });
}

/** The rule for a value that is read as Unix seconds. */
export const dateRule = "must be Unix seconds, or a date like 2026-01-31";

/**
 * Unix seconds of midnight UTC of a date as `YYYY-MM-DD`; null for any other text, and for a day that does
 * not exist.
 */
export function secondsOfDate(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const at = new Date(`${text}T00:00:00Z`);
  const isDay = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
  return isDay ? at.getTime() / 1000 : null;
}

/** `body`: JSON, strictly typed. `query`: every value is text (spec/api.md 1, spec/decisions.md 12). */
export type Mode = "body" | "query";

export interface ReaderNotes {
  /** A member that is unknown, or has no effect: the JSON must be searched for them. */
  hasIgnoredMember: boolean;
  /** Values that are not valid for their fields. The message is incomplete there. */
  readonly mistakes: Mistakes;
}

/** Converts one JSON value to a message value, and notes skipped members. @throws FieldError */
export type ReadValue = (json: JsonValue, notes: ReaderNotes) => unknown;

export type WriteValue = (value: unknown) => JsonValue;

const safe = Number.MAX_SAFE_INTEGER;
const signed32 = [-(2 ** 31), 2 ** 31 - 1] as const;
const unsigned32 = [0, 2 ** 32 - 1] as const;
// 64-bit numbers are JSON numbers on v2: a JSON parser rounds larger ones.
const signed64 = [-safe, safe] as const;
const unsigned64 = [0, safe] as const;

type Range = readonly [least: number, most: number];
type NumberOf = (json: JsonValue) => number | undefined;

const numberInBody: NumberOf = (json) => (typeof json === "number" ? json : undefined);
const numberInQuery =
  (pattern: RegExp): NumberOf =>
  (json) =>
    typeof json === "string" && pattern.test(json) ? Number(json) : undefined;
const integerInQuery = numberInQuery(/^-?\d{1,20}$/);
const decimalInQuery = numberInQuery(/^-?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,4})?$/);

function integer(numberOf: NumberOf, [least, most]: Range): (json: JsonValue) => number {
  return (json) => {
    const value = numberOf(json);
    if (value === undefined || !Number.isInteger(value)) throw new FieldError("must be a whole number");
    if (value < least || value > most)
      throw new FieldError(`must be a whole number from ${least} to ${most}`);
    return value + 0; // -0 becomes 0
  };
}

function bigInteger(numberOf: NumberOf, range: Range): ReadValue {
  const read = integer(numberOf, range);
  return (json) => BigInt(read(json));
}

/** Unix seconds: a whole number, or a date. */
export function dateReader(mode: Mode): ReadValue {
  const readNumber = scalarReader(ScalarType.INT64, mode);
  return (json, notes) => {
    if (typeof json !== "string" || (mode === "query" && integerInQuery(json) !== undefined))
      return readNumber(json, notes);
    const seconds = secondsOfDate(json);
    if (seconds === null) throw new FieldError(dateRule);
    return BigInt(seconds);
  };
}

function real(numberOf: NumberOf, most: number): ReadValue {
  return (json) => {
    const value = numberOf(json);
    // JSON.parse reads 1e999 as Infinity.
    if (value === undefined || !(Math.abs(value) <= most)) throw new FieldError("must be a finite number");
    return value;
  };
}

function readString(json: JsonValue): string {
  if (typeof json !== "string") throw new FieldError("must be a string");
  return json;
}

function readBool(json: JsonValue): boolean {
  if (typeof json !== "boolean") throw new FieldError("must be true or false");
  return json;
}

function readQueryBool(json: JsonValue): boolean {
  if (json === "true" || json === "1") return true;
  if (json === "false" || json === "0") return false;
  throw new FieldError("must be true or false");
}

function readBytes(json: JsonValue): Uint8Array {
  try {
    return base64Decode(readString(json));
  } catch {
    throw new FieldError("must be a string of base64");
  }
}

const float32Max = 3.4028234663852886e38;

/** The reader of a scalar field, list item or map value. */
export function scalarReader(type: ScalarType, mode: Mode): ReadValue {
  const whole = mode === "body" ? numberInBody : integerInQuery;
  const decimal = mode === "body" ? numberInBody : decimalInQuery;
  switch (type) {
    case ScalarType.STRING:
      return readString;
    case ScalarType.BOOL:
      return mode === "body" ? readBool : readQueryBool;
    case ScalarType.BYTES:
      return readBytes;
    case ScalarType.DOUBLE:
      return real(decimal, Number.MAX_VALUE);
    case ScalarType.FLOAT:
      return real(decimal, float32Max);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return integer(whole, unsigned32);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return bigInteger(whole, unsigned64);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return bigInteger(whole, signed64);
    default:
      return integer(whole, signed32);
  }
}

/**
 * The reader of a field's enum: by name, in both modes. The refusal of another name lists the accepted ones.
 */
export function enumReader(field: DescField & { enum: DescEnum }): ReadValue {
  const { numbers } = enumNames(field.enum);
  const rule = enumRule(field);
  return (json) => {
    const number = typeof json === "string" ? numbers.get(json) : undefined;
    if (number === undefined) throw new FieldError(rule);
    return number;
  };
}

// The value of each field kind has the type that its writer expects.
const writeAsIs: WriteValue = (value) => value as string | number | boolean;
const writeLong: WriteValue = (value) => Number(value);
// JSON has no NaN and no infinities; protobuf's JSON writes them as text.
const writeReal: WriteValue = (value) => (Number.isFinite(value) ? Number(value) : String(value));
const writeBytes: WriteValue = (value) => base64Encode(value as Uint8Array);

/** The writer of a scalar. 64-bit numbers are JSON numbers (spec/api.md 1.1). */
export function scalarWriter(type: ScalarType): WriteValue {
  switch (type) {
    case ScalarType.BYTES:
      return writeBytes;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return writeReal;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return writeLong;
    default:
      return writeAsIs;
  }
}

/**
 * The writer of an enum. A number without a name, which only a newer version can have stored, is written as a
 * number.
 */
export function enumWriter(desc: DescEnum): WriteValue {
  const { names } = enumNames(desc);
  // The value of an enum field is always a number.
  return (value) => names.get(value as number) ?? (value as number);
}
