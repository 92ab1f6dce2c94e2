import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import { elementsMax } from "../../../src/core/json.ts";
import { HealthCheckRequestSchema } from "../../../src/gen/proto/grpc/health/v1/health_pb.ts";
import { checkProtobuf, countProtobuf } from "../../../src/http/bounds/protobuf.ts";
import { tableOf } from "../../../src/http/bounds/protobuf-table.ts";
import { services } from "../../../src/pipeline/services.ts";
import { fixtureType } from "../v2/fixture/every-kind.ts";

const everyKind = fixtureType("EveryKind");
const count = (desc: DescMessage, bytes: Uint8Array) =>
  countProtobuf(tableOf(desc), bytes, Number.POSITIVE_INFINITY);

/** Bytes, and how many elements they were made of. */
interface Made {
  readonly bytes: Uint8Array;
  readonly elements: number;
}

const together = (made: readonly Made[]): Made => ({
  bytes: Buffer.concat(made.map(({ bytes }) => bytes)),
  elements: made.reduce((sum, { elements }) => sum + elements, 0),
});

/** A record: a tag, and what follows it. */
function record(
  number: number,
  wireType: WireType,
  inner: Made,
  fill: (writer: BinaryWriter, bytes: Uint8Array) => unknown,
): Made {
  const writer = new BinaryWriter().tag(number, wireType);
  fill(writer, inner.bytes);
  return { bytes: writer.finish(), elements: inner.elements + 1 };
}

const nothing: Made = { bytes: new Uint8Array(), elements: 0 };
const lengthed = (number: number, inner: Made): Made =>
  record(number, WireType.LengthDelimited, inner, (writer, bytes) => writer.bytes(bytes));
const varint = (number: number) =>
  fc
    .bigInt({ min: 0n, max: 2n ** 64n - 1n })
    .map((value) => record(number, WireType.Varint, nothing, (writer) => writer.uint64(value)));
const fixed = (number: number, wireType: WireType, size: number) =>
  fc
    .uint8Array({ minLength: size, maxLength: size })
    .map((bytes) => record(number, wireType, { bytes, elements: 0 }, (writer, raw) => writer.raw(raw)));
const text = (number: number) =>
  fc.uint8Array({ maxLength: 40 }).map((bytes) => lengthed(number, { bytes, elements: 0 }));

/** A field that no descriptor here has, of any wire type; groups hold others. */
function unknown(depth: number): fc.Arbitrary<Made> {
  const number = fc.integer({ min: 1000, max: 2 ** 29 - 1 });
  const group = (at: number) =>
    fc
      .array(unknown(depth - 1), { maxLength: 3 })
      .map((inner) =>
        record(at, WireType.StartGroup, together(inner), (writer, bytes) =>
          writer.raw(bytes).tag(at, WireType.EndGroup),
        ),
      );
  return number.chain((at) =>
    fc.oneof(
      varint(at),
      text(at),
      fixed(at, WireType.Bit64, 8),
      fixed(at, WireType.Bit32, 4),
      ...(depth > 0 ? [group(at)] : []),
    ),
  );
}

/** The records of a message of this type, in any order and number. */
function recordsOf(desc: DescMessage, depth: number): fc.Arbitrary<Made> {
  if (depth <= 0) return fc.constant(nothing);
  return fc
    .array(fc.oneof(unknown(2), ...desc.fields.map((field) => known(field, depth))), { maxLength: 5 })
    .map(together);
}

function known(field: DescField, depth: number): fc.Arbitrary<Made> {
  const { number } = field;
  if (field.fieldKind === "map") {
    const value = field.message
      ? recordsOf(field.message, depth - 1).map((inner) => lengthed(2, inner))
      : text(2);
    return fc
      .array(fc.oneof(text(1), value, unknown(0)), { maxLength: 3 })
      .map((entry) => lengthed(number, together(entry)));
  }
  if (field.message) return recordsOf(field.message, depth - 1).map((inner) => lengthed(number, inner));
  if (field.fieldKind === "list" && field.enum) return fc.oneof(varint(number), packed(number));
  return one(field);
}

function one({ number, scalar }: DescField): fc.Arbitrary<Made> {
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return text(number);
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FIXED64) return fixed(number, WireType.Bit64, 8);
  return scalar === ScalarType.FLOAT ? fixed(number, WireType.Bit32, 4) : varint(number);
}

/** Packed elements count, their field does not. */
const packed = (number: number): fc.Arbitrary<Made> =>
  fc.array(fc.nat(), { maxLength: 20 }).map((values) => {
    const writer = new BinaryWriter();
    for (const value of values) writer.uint32(value);
    return lengthed(number, { bytes: writer.finish(), elements: values.length - 1 });
  });

/**
 * The elements of a decoded message. A Value without a kind is read as null and does not count as an element.
 */
function elementsIn(message: ReflectMessage): number {
  let sum = message.message.$unknown?.length ?? 0;
  for (const field of message.fields.filter((each) => message.isSet(each) && each.name !== "null_value")) {
    if (field.fieldKind === "list") for (const item of message.get(field)) sum += 1 + elementsOf(item);
    else if (field.fieldKind === "map")
      for (const [, value] of message.get(field)) sum += 1 + elementsOf(value);
    else sum += 1 + elementsOf(message.get(field));
  }
  return sum;
}

const isMessage = (value: unknown): value is ReflectMessage =>
  typeof value === "object" && value !== null && "findNumber" in value;
const elementsOf = (value: unknown): number => (isMessage(value) ? elementsIn(value) : 0);

const records = recordsOf(everyKind, 3);

describe("counting a binary message", () => {
  test("counts each field at every depth, known and unknown, entries, and packed elements", () => {
    fc.assert(
      fc.property(records, ({ bytes, elements }) => {
        expect(count(everyKind, bytes)).toBe(elements);
      }),
      { numRuns: 1000 },
    );
  });

  test("never counts less than the decoder builds, for any bytes, and throws only refusals", () => {
    const change = fc.tuple(
      fc.nat(),
      fc.oneof(fc.nat(255), fc.constantFrom(0x0a, 0x08, 0x9a, 0xa2, 0x00, 0xff, 0x0b, 0x0c)),
    );
    fc.assert(
      fc.property(records, fc.array(change, { maxLength: 4 }), ({ bytes }, changes) => {
        const changed = Uint8Array.from(bytes);
        for (const [at, byte] of changes) if (changed.length > 0) changed[at % changed.length] = byte;
        const counted = outcome(() => count(everyKind, changed));
        const built = outcome(() => elementsIn(reflect(everyKind, fromBinary(everyKind, changed))));
        expect(
          typeof counted === "number" ||
            (counted instanceof Failure && counted.reason === "invalid_argument"),
        ).toBe(true);
        if (typeof counted === "number" && typeof built === "number")
          expect(built).toBeLessThanOrEqual(counted);
      }),
      { numRuns: 5000 },
    );
  });

  test("stops once the limit is exceeded", () => {
    expect(
      countProtobuf(tableOf(HealthCheckRequestSchema), Buffer.alloc(1_000_000, Buffer.from([0x7a, 0])), 7),
    ).toBe(8);
  });

  test.each(
    services.flatMap(({ methods }) => methods).map(({ input }) => [input.typeName, input] as const),
  )("knows %s", (_name, desc) => {
    expect(count(desc, new Uint8Array())).toBe(0);
  });
});

function outcome(work: () => number): number | Error {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
    throw thrown;
  }
}

describe("a binary message is refused", () => {
  const invalid = (message: string) => expect.objectContaining({ reason: "invalid_argument", message });

  test.each([
    ["a field that is cut", [0x0a, 0x05, 0x61]],
    ["a tag that is cut", [0x8a]],
    ["a field number of 0", [0x00, 0x01]],
    ["a wire type that there is not", [0x0e]],
    ["the end of a group that has not begun", [0x0c]],
    ["a group that does not end", [0x9b, 0x3f, 0x08, 0x01]],
    ["a group that ends as another", [0x9b, 0x3f, 0xa4, 0x3f]],
    ["a varint of eleven bytes", [0x20, ...Array(10).fill(0xff), 0x01]],
    ["a length of more than 32 bits", [0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ["a text whose tag says varint, which the decoder would read otherwise", [0x08, 0x01, 0x61]],
    ["a message within one that ends before it", [0xca, 0x01, 0x02, 0x12, 0x08, 0x61]],
  ])("for %s", (_what, bytes) => {
    expect(() => count(everyKind, Uint8Array.from(bytes))).toThrow(
      invalid("the message is not valid protobuf"),
    );
  });

  test("for messages and groups that nest more than 100 levels deep", () => {
    const nested = (depth: number) =>
      Array.from({ length: depth }).reduce<Made>((inner) => lengthed(19, inner), nothing).bytes;
    expect(count(everyKind, nested(99))).toBe(99);
    expect(() => count(everyKind, nested(100))).toThrow(invalid("the message is nested more than 100 deep"));
    const groups = (depth: number) =>
      Buffer.concat([
        Buffer.alloc(depth * 2, Buffer.from([0x9b, 0x3f])),
        Buffer.alloc(depth * 2, Buffer.from([0x9c, 0x3f])),
      ]);
    expect(count(everyKind, groups(99))).toBe(99);
    expect(() => count(everyKind, groups(100_000))).toThrow(
      invalid("the message is nested more than 100 deep"),
    );
  });

  test(`for more than ${elementsMax} elements, and not for as many`, () => {
    const fields = (n: number) => Buffer.alloc(n * 2, Buffer.from([0x7a, 0]));
    expect(() => checkProtobuf(tableOf(HealthCheckRequestSchema), fields(elementsMax))).not.toThrow();
    expect(() => checkProtobuf(tableOf(HealthCheckRequestSchema), fields(elementsMax + 1))).toThrow(
      expect.objectContaining({
        reason: "too_large",
        message: "the message has more than 100000 fields and list items",
      }),
    );
  });

  test("for names in maps above 1,024 bytes each, or 2 MiB in all", () => {
    const map = (count: number, length: number) =>
      toBinary(
        StructSchema,
        create(StructSchema, {
          fields: Object.fromEntries(
            Array.from({ length: count }, (_, at) => [String(at).padStart(length, "n"), nullValue]),
          ),
        }),
      );
    const check = (count: number, length: number) => () =>
      checkProtobuf(tableOf(StructSchema), map(count, length));
    // Keys are counted with their length.
    expect(check(2, 1022)).not.toThrow();
    expect(check(2, 1025)).toThrow(
      expect.objectContaining({ reason: "too_large", message: "a member's name has more than 1024 bytes" }),
    );
    expect(check(2_040, 1022)).not.toThrow();
    expect(check(2_060, 1022)).toThrow(
      expect.objectContaining({ message: "the names of all members have more than 2097152 bytes" }),
    );
  });
});

const nullValue = create(ValueSchema, { kind: { case: "nullValue", value: 0 } });
