import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { Failure, invalidArgument } from "../../core/failure.ts";
import { elementsMax } from "../../core/json.ts";

/** The deepest nesting of messages and groups that protobuf-es reads. */
const depthMax = 100;

/**
 * Refuses a binary message with more than 100,000 fields and list items: it would cost too much to build. A message of
 * at most 100,000 bytes cannot have more and is not checked.
 *
 * @throws Failure `too_large` for too many, `invalid_argument` for bytes that are not a message of this type or nest too deep.
 */
export function checkProtobuf(desc: DescMessage, bytes: Uint8Array): void {
  if (bytes.length <= elementsMax) return;
  if (countProtobuf(desc, bytes, elementsMax) > elementsMax)
    throw new Failure("too_large", `the message has more than ${elementsMax} fields and list items`);
}

/**
 * Counts the elements of a binary message in one pass, without an allocation per element: each field at every depth,
 * including unknown fields and fields in groups, each entry of a map with its key and its value, and each element of a
 * packed list. Stops at `max + 1`.
 *
 * The pass and the decoder must see the same structure. So bytes that the decoder may read in another way are refused:
 * a field with a wrong wire type, and a length beyond the end of the enclosing message.
 *
 * @throws Failure `invalid_argument` for malformed bytes, and for messages or groups that nest more than 100 deep.
 */
export function countProtobuf(desc: DescMessage, bytes: Uint8Array, max: number): number {
  return new Count(bytes, max).of(tableOf(desc));
}

/** The facts about a field that the pass needs. */
interface Field {
  readonly wireType: WireType;
  /** The wire type of the elements of a list that may be packed. */
  readonly packed: WireType | null;
  readonly message: Table | null;
}

interface Table {
  readonly fields: Map<number, Field>;
  /** An entry of a map; the decoder does not count it as a level of nesting. */
  readonly isEntry: boolean;
}

class Count {
  readonly #bytes: Uint8Array;
  readonly #max: number;
  #at = 0;
  #count = 0;

  constructor(bytes: Uint8Array, max: number) {
    this.#bytes = bytes;
    this.#max = max;
  }

  of(table: Table): number {
    this.#message(table, this.#bytes.length, 1);
    return this.#count;
  }

  #message({ fields }: Table, end: number, depth: number): void {
    if (depth > depthMax) throw tooDeep();
    while (this.#at < end && this.#count <= this.#max) {
      const tag = this.#uint32(end);
      const wireType = tag & 7;
      this.#count++;
      const field = fields.get(tag >>> 3);
      if (field === undefined) this.#skip(tag, end, depth);
      else if (wireType === WireType.LengthDelimited && field.packed !== null) this.#elements(field.packed, this.#stop(end));
      else if (wireType !== field.wireType) throw malformed();
      else if (field.message === null) this.#skip(tag, end, depth);
      else this.#message(field.message, this.#stop(end), field.message.isEntry ? depth : depth + 1);
    }
  }

  /** Counts the elements of a packed list; its field was counted as one of them. */
  #elements(wireType: WireType, stop: number): void {
    this.#count--;
    while (this.#at < stop && this.#count <= this.#max) {
      this.#count++;
      if (wireType === WireType.Varint) this.#varint(stop);
      else this.#pass(wireType === WireType.Bit64 ? 8 : 4, stop);
    }
  }

  #skip(tag: number, end: number, depth: number): void {
    const number = tag >>> 3;
    if (number === 0) throw malformed();
    const wireType = tag & 7;
    if (wireType === WireType.Varint) this.#varint(end);
    else if (wireType === WireType.Bit64) this.#pass(8, end);
    else if (wireType === WireType.LengthDelimited) this.#at = this.#stop(end);
    else if (wireType === WireType.Bit32) this.#pass(4, end);
    else if (wireType === WireType.StartGroup) this.#group(number, end, depth + 1);
    else throw malformed();
  }

  #group(number: number, end: number, depth: number): void {
    if (depth > depthMax) throw tooDeep();
    while (this.#count <= this.#max) {
      const tag = this.#uint32(end);
      if ((tag & 7) === WireType.EndGroup) {
        if (tag >>> 3 !== number) throw malformed();
        return;
      }
      this.#count++;
      this.#skip(tag, end, depth);
    }
  }

  /** Reads a length and returns the end of its value. */
  #stop(end: number): number {
    const length = this.#uint32(end);
    const stop = this.#at + length;
    if (stop > end) throw malformed();
    return stop;
  }

  #pass(length: number, end: number): void {
    this.#at += length;
    if (this.#at > end) throw malformed();
  }

  #varint(end: number): void {
    const last = Math.min(end, this.#at + 10);
    while (this.#at < last) if ((this.#bytes[this.#at++] ?? 0) < 0x80) return;
    throw malformed();
  }

  #uint32(end: number): number {
    const last = Math.min(end, this.#at + 5);
    let value = 0;
    for (let shift = 0; this.#at < last; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      // Five bytes hold 35 bits; the upper three must be zero.
      if (shift === 28 && byte > 0x0f) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw malformed();
  }
}

const malformed = (): Failure => invalidArgument("", "the message is not valid protobuf");
const tooDeep = (): Failure => invalidArgument("", `the message is nested more than ${depthMax} deep`);

const tables = new WeakMap<DescMessage, Table>();

/** The table of a type, compiled at its first use and cached. */
function tableOf(desc: DescMessage): Table {
  const known = tables.get(desc);
  if (known) return known;
  const table: Table = { fields: new Map(), isEntry: false };
  // Store the table before its fields are compiled: a type may contain itself.
  tables.set(desc, table);
  for (const field of desc.fields) table.fields.set(field.number, fieldOf(field));
  return table;
}

function fieldOf(field: DescField): Field {
  if (field.fieldKind === "map") {
    const value: Field = singleField(field.mapKind === "scalar" ? field.scalar : undefined, field.message);
    const fields = new Map([
      [1, singleField(field.mapKey, undefined)],
      [2, value],
    ]);
    return { wireType: WireType.LengthDelimited, packed: null, message: { fields, isEntry: true } };
  }
  const one = singleField(field.scalar, field.message);
  return field.fieldKind === "list" && one.wireType !== WireType.LengthDelimited ? { ...one, packed: one.wireType } : one;
}

/** A single value. An enum has neither a scalar type nor a message. */
function singleField(scalar: ScalarType | undefined, message: DescMessage | undefined): Field {
  if (message) return { wireType: WireType.LengthDelimited, packed: null, message: tableOf(message) };
  return { wireType: scalar === undefined ? WireType.Varint : (wireTypes[scalar] ?? WireType.Varint), packed: null, message: null };
}

/** The scalar types that are not varints. */
const wireTypes: Readonly<Partial<Record<ScalarType, WireType>>> = {
  [ScalarType.DOUBLE]: WireType.Bit64,
  [ScalarType.FIXED64]: WireType.Bit64,
  [ScalarType.SFIXED64]: WireType.Bit64,
  [ScalarType.FLOAT]: WireType.Bit32,
  [ScalarType.FIXED32]: WireType.Bit32,
  [ScalarType.SFIXED32]: WireType.Bit32,
  [ScalarType.STRING]: WireType.LengthDelimited,
  [ScalarType.BYTES]: WireType.LengthDelimited,
};
