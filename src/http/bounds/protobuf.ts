import { WireType } from "@bufbuild/protobuf/wire";
import { Failure, invalidArgument } from "../../core/failure.ts";
import { addName, elementsMax, nameMax } from "../../core/json.ts";
import type { Table } from "./protobuf-table.ts";

/** The deepest nesting of messages and groups that protobuf-es reads. */
const depthMax = 100;

/**
 * Refuses a binary message with more than 100,000 fields and list items, or with names in maps above the
 * limits of JSON (`addName`): it would cost too much to build. A message of at most 1,024 bytes can have
 * neither and is not checked.
 *
 * @throws Failure `too_large` for too many and too long ones, `invalid_argument` for bytes that are not a
 * message of this type or nest too deep.
 */
export function checkProtobuf(table: Table, bytes: Uint8Array): void {
  if (bytes.length <= nameMax) return;
  if (countProtobuf(table, bytes, elementsMax) > elementsMax)
    throw new Failure("too_large", `the message has more than ${elementsMax} fields and list items`);
}

/**
 * Counts the elements of a binary message in one pass, without an allocation per element: each field at every
 * depth, including unknown fields and fields in groups, each entry of a map with its key and its value, and
 * each element of a packed list. Stops at `max + 1`.
 *
 * The pass and the decoder must see the same structure. So bytes that the decoder may read in another way are
 * refused: a field with a wrong wire type, and a length beyond the end of the enclosing message.
 *
 * @throws Failure `invalid_argument` for malformed bytes, and for messages or groups that nest more than 100
 * deep.
 */
export function countProtobuf(table: Table, bytes: Uint8Array, max: number): number {
  return new Count(bytes, max).of(table);
}

class Count {
  readonly #bytes: Uint8Array;
  readonly #max: number;
  #at = 0;
  #count = 0;
  #names = 0;

  constructor(bytes: Uint8Array, max: number) {
    this.#bytes = bytes;
    this.#max = max;
  }

  of(table: Table): number {
    this.#message(table, this.#bytes.length, 1);
    return this.#count;
  }

  #message({ fields, isEntry }: Table, end: number, depth: number): void {
    if (depth > depthMax) throw tooDeep();
    while (this.#at < end && this.#count <= this.#max) {
      const tag = this.#uint32(end);
      const wireType = tag & 7;
      this.#count++;
      const field = fields.get(tag >>> 3);
      if (field === undefined) this.#skip(tag, end, depth);
      else if (wireType === WireType.LengthDelimited && field.packed !== null)
        this.#elements(field.packed, this.#stop(end));
      else if (wireType !== field.wireType) throw malformed();
      else if (field.message === null) {
        const start = this.#at;
        this.#skip(tag, end, depth);
        // The key of an entry.
        if (isEntry && tag >>> 3 === 1) this.#names = addName(this.#names, this.#at - start);
      } else this.#message(field.message, this.#stop(end), field.message.isEntry ? depth : depth + 1);
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
