import { type DescEnum, type DescField, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { choiceRule } from "../../call/choices.ts";
import { dateRule, secondsOfDate } from "../date-seconds.ts";
import { Misfit } from "./misfit.ts";
import { wordsOf } from "./wire.ts";

/** `body`: JSON, strictly typed. `query`: every value is text (contract/v2.md 1, contract/decisions.md 12). */
export type Mode = "body" | "query";

/** What a reader has met beside the message: it tells whether the JSON has to be searched for members without effect. */
export interface Met {
  /** A member that is unknown, or has no effect. */
  idleMember: boolean;
}

/** Turns one JSON value into what a message holds, and notes in `met` what it passes over; throws Misfit. */
export type ReadValue = (json: JsonValue, met: Met) => unknown;

/** Turns what a message holds into JSON. */
export type WriteValue = (value: unknown) => JsonValue;

const safe = Number.MAX_SAFE_INTEGER;
const signed32 = [-(2 ** 31), 2 ** 31 - 1] as const;
const unsigned32 = [0, 2 ** 32 - 1] as const;
// 64-bit numbers are JSON numbers on v2: beyond this a JSON parser has rounded them already.
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
    if (value === undefined || !Number.isInteger(value)) throw new Misfit("must be a whole number");
    if (value < least || value > most) throw new Misfit(`must be a whole number from ${least} to ${most}`);
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
  return (json, met) => {
    if (typeof json !== "string" || (mode === "query" && integerInQuery(json) !== undefined)) return readNumber(json, met);
    const seconds = secondsOfDate(json);
    if (seconds === null) throw new Misfit(dateRule);
    return BigInt(seconds);
  };
}

function real(numberOf: NumberOf, most: number): ReadValue {
  return (json) => {
    const value = numberOf(json);
    // JSON.parse makes Infinity of 1e999.
    if (value === undefined || !(Math.abs(value) <= most)) throw new Misfit("must be a finite number");
    return value;
  };
}

function readString(json: JsonValue): string {
  if (typeof json !== "string") throw new Misfit("must be a string");
  return json;
}

function readBool(json: JsonValue): boolean {
  if (typeof json !== "boolean") throw new Misfit("must be true or false");
  return json;
}

function readQueryBool(json: JsonValue): boolean {
  if (json === "true" || json === "1") return true;
  if (json === "false" || json === "0") return false;
  throw new Misfit("must be true or false");
}

function readBytes(json: JsonValue): Uint8Array {
  try {
    return base64Decode(readString(json));
  } catch {
    throw new Misfit("must be a string of base64");
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

/** The reader of a field's enum: by word, in both modes. The refusal of another word lists those that the field takes. */
export function enumReader(field: DescField & { readonly enum: DescEnum }): ReadValue {
  const { numbers } = wordsOf(field.enum);
  const rule = choiceRule(field);
  return (json) => {
    const number = typeof json === "string" ? numbers.get(json) : undefined;
    if (number === undefined) throw new Misfit(rule);
    return number;
  };
}

// Each field kind holds nothing but what its writer takes.
const writeAsIs: WriteValue = (value) => value as string | number | boolean;
const writeLong: WriteValue = (value) => Number(value);
// JSON has no such numbers; protobuf's JSON spells them so.
const writeReal: WriteValue = (value) => (Number.isFinite(value) ? Number(value) : String(value));
const writeBytes: WriteValue = (value) => base64Encode(value as Uint8Array);

/** The writer of a scalar. 64-bit numbers are JSON numbers (contract/v2.md 1.1). */
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

/** The writer of an enum. A number without a word, which only a newer build can have stored, is written as it is. */
export function enumWriter(desc: DescEnum): WriteValue {
  const { words } = wordsOf(desc);
  // An enum field holds nothing but a number.
  return (value) => words.get(value as number) ?? (value as number);
}
