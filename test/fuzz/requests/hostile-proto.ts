import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";

type Bytes = Uint8Array;
type Write = (writer: BinaryWriter) => BinaryWriter;

const written = (write: Write): Bytes => write(new BinaryWriter()).finish();
const raw =
  (...octets: readonly number[]): Write =>
  (writer) =>
    writer.raw(Uint8Array.from(octets));
const all =
  (...writes: readonly Write[]): Write =>
  (writer) =>
    writes.reduce((on, write) => write(on), writer);
const tag =
  (no: number, type: WireType): Write =>
  (writer) =>
    writer.tag(no, type);
const held =
  (no: number, bytes: Bytes): Write =>
  (writer) =>
    writer.tag(no, WireType.LengthDelimited).bytes(bytes);

const overlong = raw(...Array<number>(11).fill(0xff), 0x01);
const badUtf8 = Uint8Array.from([0xed, 0xa0, 0x80, 0xff, 0xc0, 0x80]);
const depths = [50, 99, 100, 101, 1_000, 10_000] as const;

/**
 * Field `no` inside itself; each level costs its length, so the inside is written first and the message from
 * its end.
 */
function nested(no: number, depth: number, inner: Bytes = new Uint8Array()): Bytes {
  const heads: Bytes[] = [inner];
  let length = inner.length;
  for (let level = 0; level < depth; level++) {
    const head = written((writer) => writer.tag(no, WireType.LengthDelimited).uint32(length));
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat(heads.reverse());
}

/** A Struct in a Value in an entry of a Struct, and so on. */
function deepStruct(depth: number): Bytes {
  const heads: Bytes[] = [];
  let length = 0;
  for (let level = 0; level < depth; level++) {
    // Value.struct_value is 5, an entry's value 2, and Struct.fields 1.
    const value = written((writer) => writer.tag(5, WireType.LengthDelimited).uint32(length));
    const entry = written((writer) =>
      held(
        1,
        Buffer.from("a"),
      )(writer)
        .tag(2, WireType.LengthDelimited)
        .uint32(length + value.length),
    );
    const fields = written((writer) =>
      writer.tag(1, WireType.LengthDelimited).uint32(length + value.length + entry.length),
    );
    heads.push(Buffer.concat([fields, entry, value]));
    length += fields.length + entry.length + value.length;
  }
  return Buffer.concat(heads.reverse());
}

/** Bytes that no valid message of any type has. */
const anywhere: readonly Bytes[] = [
  written(overlong),
  written(all(tag(1, WireType.Varint), overlong)),
  written(raw(0x00)),
  written(raw(0x07, 0x01)),
  written(raw(0x0f)),
  written(raw(0xfa, 0xff, 0xff, 0xff, 0x0f, 0x00)),
  ...[0x7fffffff, 0xffffffff].map((length) =>
    written((writer) => writer.tag(1, WireType.LengthDelimited).uint32(length)),
  ),
  written((writer) => writer.tag(1, WireType.LengthDelimited).uint64(2n ** 63n)),
  written(tag(1, WireType.StartGroup)),
  written(tag(1, WireType.EndGroup)),
  written(all(tag(999, WireType.StartGroup), tag(998, WireType.EndGroup))),
  written((writer) =>
    Array.from({ length: 5_000 }).reduce<BinaryWriter>(
      (on) => on.tag(1_000, WireType.Varint).uint32(1),
      writer,
    ),
  ),
  ...depths.flatMap((depth) => groups(999, depth)),
];

/** Groups in groups, closed and not: skipping an unknown field must have a depth limit. */
function groups(no: number, depth: number): Bytes[] {
  const open = Buffer.from(written(tag(no, WireType.StartGroup)));
  const close = Buffer.from(written(tag(no, WireType.EndGroup)));
  const down = Buffer.concat(Array<Buffer>(depth).fill(open));
  return [down, Buffer.concat([down, ...Array<Buffer>(depth).fill(close)])];
}

const wireTypes = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** A field with every wire type, including its own, and values that its type does not have. */
function atField(field: DescField): Bytes[] {
  const { number: no } = field;
  const mistyped = wireTypes.map((type) =>
    written((writer) => raw(1, 2, 3, 4, 5, 6, 7, 8)(writer.uint32((no << 3) | type))),
  );
  if (field.scalar === ScalarType.STRING)
    return [...mistyped, written(held(no, badUtf8)), written(held(no, Buffer.from("a\0b")))];
  if (field.enum)
    return [
      ...mistyped,
      ...[-1, 99, 2 ** 31 - 1].map((word) =>
        written((writer) => writer.tag(no, WireType.Varint).int32(word)),
      ),
    ];
  if (field.message)
    return [
      ...mistyped,
      ...(deepMessages[field.message.typeName] ?? []).map((bytes) => written(held(no, bytes))),
    ];
  return [
    ...mistyped,
    ...[-1n, 2n ** 63n - 1n].map((value) =>
      written((writer) => writer.tag(no, WireType.Varint).int64(value)),
    ),
  ];
}

const structOf = (...value: readonly Write[]): Bytes =>
  written(held(1, written(all(held(1, Buffer.from("__proto__")), held(2, written(all(...value)))))));

/** Invalid contents of Google's types. */
const deepMessages: Readonly<Record<string, readonly Bytes[]>> = {
  "google.protobuf.Struct": [
    ...depths.map(deepStruct),
    structOf(),
    ...[Number.NaN, Number.POSITIVE_INFINITY].map((value) =>
      structOf((writer) => writer.tag(2, WireType.Bit64).double(value)),
    ),
    structOf((writer) => writer.tag(1, WireType.Varint).int32(7)),
    structOf(held(3, badUtf8)),
    nested(1, 1_000),
  ],
  "google.protobuf.Timestamp": [-1n, 2n ** 62n].map((seconds) =>
    written((writer) => writer.tag(1, WireType.Varint).int64(seconds).tag(2, WireType.Varint).int32(-1)),
  ),
};

/** Bytes that are hardly a message of this type; `sound` are valid messages. */
export function hostileProto(desc: DescMessage, sound: fc.Arbitrary<Bytes>): fc.Arbitrary<Bytes> {
  const additions = fc.constantFrom(...anywhere, ...desc.fields.flatMap(atField));
  const joined = (...parts: readonly Bytes[]): Bytes => Buffer.concat(parts);
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(sound, additions).map(([bytes, more]) => joined(bytes, more)) },
    { weight: 2, arbitrary: fc.tuple(additions, sound).map(([bytes, more]) => joined(bytes, more)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(sound, fc.nat(400))
        .map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1))),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(sound, fc.nat(400), fc.nat(255))
        .map(([bytes, at, octet]) => flipped(bytes, at, octet)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
    { weight: 1, arbitrary: fc.tuple(sound, sound).map(([bytes, more]) => joined(bytes, more)) },
  );
}

function flipped(bytes: Bytes, at: number, octet: number): Bytes {
  const copy = Uint8Array.from(bytes);
  if (copy.length > 0) copy[at % copy.length] = octet;
  return copy;
}
