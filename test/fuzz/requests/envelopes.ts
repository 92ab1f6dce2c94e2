import fc from "fast-check";
import { framed } from "../../wires/raw.ts";

/** A message after a coding, with the flag for it. */
export interface Coded {
  readonly bytes: Uint8Array;
  readonly flags: number;
}

/** Envelopes one message in the form of gRPC, gRPC-Web and Connect's streams. */
export const enveloped = ({ bytes, flags }: Coded): Buffer => framed(bytes, flags);

/** An envelope that announces another length than it has. */
function announcing({ bytes, flags }: Coded, length: number): Buffer {
  const envelope = framed(bytes, flags);
  envelope.writeUInt32BE(length % 2 ** 32, 1);
  return envelope;
}

const trailers = Buffer.from("grpc-status: 0\r\n");

/** Ways to damage a message's envelope. */
const breaks: readonly ((coded: Coded) => Buffer)[] = [
  () => Buffer.alloc(0),
  ({ bytes }) => Buffer.from(bytes),
  (coded) => announcing(coded, coded.bytes.length + 1),
  (coded) => announcing(coded, Math.max(0, coded.bytes.length - 1)),
  (coded) => announcing(coded, 0),
  (coded) => announcing(coded, 32 * 1024 ** 2 + 1),
  (coded) => announcing(coded, 2 ** 31),
  (coded) => announcing(coded, 2 ** 32 - 1),
  ...[1, 2, 3, 4, 0x80, 0x81, 0xff].map(
    (flags) =>
      ({ bytes }: Coded) =>
        framed(bytes, flags),
  ),
  ...[2, 5, 50].map((times) => (coded: Coded) => Buffer.concat(Array<Buffer>(times).fill(enveloped(coded)))),
  ...[1, 4, 5].map((length) => (coded: Coded) => enveloped(coded).subarray(0, length)),
  (coded) => enveloped(coded).subarray(0, -1),
  (coded) => Buffer.concat([enveloped(coded), Buffer.from([0])]),
  (coded) => Buffer.concat([enveloped(coded), Buffer.from("garbage")]),
  (coded) => Buffer.concat([enveloped(coded), framed(Buffer.from("{}"), 2)]),
  (coded) => Buffer.concat([enveloped(coded), framed(trailers, 0x80)]),
  () => framed(trailers, 0x80),
  () => framed(Buffer.from("{"), 2),
];

/** Damaged envelopes of a message, and bytes without an envelope. */
export const brokenEnvelopes: fc.Arbitrary<(coded: Coded) => Buffer> = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...breaks) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((any) => () => Buffer.from(any)) },
);
