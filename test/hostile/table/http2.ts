import type { Attack } from "../attack.ts";
import { flag, frame, literal, postBlock, sendFrames, type } from "../send/frames.ts";

const check = "/grpc.health.v1.Health/Check";
const framesAtOnce = 500;

const attack = (
  name: string,
  frames: () => Iterable<Uint8Array>,
  ...expected: readonly string[]
): Attack => ({
  ...{ name: `${name} over HTTP/2`, by: "anonymous", expected },
  send: (target) => sendFrames(target, frames()),
});

/** `count` frames, many in each piece. */
function* many(count: number, frameOf: (at: number) => Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < count; at += framesAtOnce)
    yield Buffer.concat(
      Array.from({ length: Math.min(framesAtOnce, count - at) }, (_, offset) => frameOf(at + offset)),
    );
}

function* joined(...all: readonly Iterable<Uint8Array>[]): Generator<Uint8Array> {
  for (const frames of all) yield* frames;
}

/** The head of the nth request. */
const request = (
  at: number,
  flags: number = flag.endHeaders,
  headers: Readonly<Record<string, string>> = {},
): Buffer =>
  frame(
    type.headers,
    flags,
    2 * at + 1,
    postBlock(check, { "content-type": "application/proto", ...headers }),
  );

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** A setting of SETTINGS: identifier and value (RFC 9113, 6.5.1). */
const setting = (identifier: number, value: number): Buffer =>
  Buffer.concat([Buffer.from([0, identifier]), number(value)]);

/**
 * A field that is added to the connection's table, and then repeated in the block this many times by its
 * one-byte index.
 */
const indexed = (times: number): Buffer =>
  Buffer.concat([
    postBlock(check),
    Buffer.concat([Buffer.from([0x40]), literal("a", "b".repeat(3_900)).subarray(1)]),
    Buffer.alloc(times, 0x80 | 62),
  ]);

const refused = ["goaway 1", "goaway 2", "goaway 11", "closed"];

/** Frames that cost the server more than the sender. */
export const http2: readonly Attack[] = [
  attack(
    "100,000 empty CONTINUATION frames",
    () =>
      joined(
        [request(0, 0)],
        many(100_000, () => frame(type.continuation, 0, 1)),
      ),
    ...refused,
  ),
  attack(
    "20,000 CONTINUATION frames of 1 KB",
    () =>
      joined(
        [request(0, 0)],
        many(20_000, () => frame(type.continuation, 0, 1, literal("a", "b".repeat(1_000)))),
      ),
    ...refused,
  ),
  attack(
    "10,000 requests that are reset at once",
    () => many(10_000, (at) => Buffer.concat([request(at), frame(type.reset, 0, 2 * at + 1, number(8))])),
    ...refused,
  ),
  attack(
    "5,000 requests whose window is opened by zero",
    () => many(5_000, (at) => Buffer.concat([request(at), frame(type.window, 0, 2 * at + 1, number(0))])),
    ...refused,
    "reset 1",
    "reset 7",
  ),
  attack(
    "3,000 requests that are begun and never ended",
    () => many(3_000, (at) => request(at)),
    ...refused,
    "reset 7",
  ),
  attack("100,000 SETTINGS", () => many(100_000, () => frame(type.settings, 0, 0)), ...refused, "open"),
  attack(
    "2,000 SETTINGS of 1,000 entries",
    () => many(2_000, () => frame(type.settings, 0, 0, Buffer.alloc(6_000, setting(4, 65_535)))),
    ...refused,
    "open",
  ),
  attack(
    "200,000 acknowledged SETTINGS",
    () => many(200_000, () => frame(type.settings, flag.ack, 0)),
    ...refused,
    "open",
  ),
  attack(
    "200,000 PINGs",
    () => many(200_000, () => frame(type.ping, 0, 0, Buffer.alloc(8))),
    ...refused,
    "open",
  ),
  attack(
    "200,000 acknowledged PINGs",
    () => many(200_000, () => frame(type.ping, flag.ack, 0, Buffer.alloc(8))),
    ...refused,
    "open",
  ),
  attack(
    "100,000 PRIORITY frames",
    () => many(100_000, (at) => frame(type.priority, 0, 2 * (at % 1_000) + 1, Buffer.alloc(5, 1))),
    ...refused,
    "open",
  ),
  attack(
    "100,000 frames of an unknown type",
    () => many(100_000, () => frame(0xbe, 0xff, 0, Buffer.alloc(16))),
    ...refused,
    "open",
  ),
  attack(
    "100,000 empty DATA frames",
    () =>
      joined(
        [request(0)],
        many(100_000, () => frame(type.data, 0, 1)),
      ),
    ...refused,
    "open",
  ),
  attack(
    "50,000 DATA frames of padding alone",
    () =>
      joined(
        [request(0)],
        many(50_000, () => frame(type.data, flag.padded, 1, Buffer.from([1, 0]))),
      ),
    ...refused,
    "goaway 3",
    "open",
  ),
  attack(
    "100,000 openings of the window by one",
    () => many(100_000, () => frame(type.window, 0, 0, number(1))),
    ...refused,
    "open",
  ),
  attack(
    "a window beyond 2^31",
    () => [frame(type.window, 0, 0, number(2 ** 31 - 1)), frame(type.window, 0, 0, number(2 ** 31 - 1))],
    "goaway 3",
    "closed",
  ),
  attack(
    "a header that is indexed 16,000 times",
    () => [frame(type.headers, flag.endHeaders, 1, indexed(12_000))],
    ...refused,
    "reset 11",
    "reset 1",
  ),
  attack(
    "100 heads with a header that is indexed 2,000 times",
    () => many(100, (at) => frame(type.headers, flag.endHeaders, 2 * at + 1, indexed(2_000))),
    ...refused,
    "reset 11",
    "reset 1",
    "goaway 9",
  ),
  attack(
    "a head of 1,000 fields",
    () => [
      frame(
        type.headers,
        flag.endHeaders,
        1,
        Buffer.concat([postBlock(check), ...Array<Buffer>(1_000).fill(literal("a", "b"))]),
      ),
    ],
    ...refused,
    "reset 11",
    "reset 1",
    "open",
  ),
  attack(
    "a header table of 4 GB",
    () =>
      joined(
        [frame(type.settings, 0, 0, setting(1, 2 ** 32 - 1))],
        many(90, (at) => request(at, flag.endHeaders | flag.endStream)),
      ),
    ...refused,
    "open",
    "reset 7",
  ),
  attack(
    "a frame beyond the greatest length",
    () => [frame(type.data, 0, 1, Buffer.alloc(20_000))],
    "goaway 6",
    "goaway 1",
    "closed",
  ),
  attack(
    "DATA on a stream that was never begun",
    () => [frame(type.data, 0, 1, Buffer.alloc(10))],
    ...refused,
  ),
  attack(
    "a request on an even stream",
    () => [frame(type.headers, flag.endHeaders, 2, postBlock(check))],
    ...refused,
  ),
  attack("a PUSH_PROMISE of a client", () => [frame(type.push, flag.endHeaders, 1, number(2))], ...refused),
  attack("requests in descending order", () => [request(5), request(1)], ...refused, "goaway 5", "open"),
  attack(
    "two methods in a head",
    () => [
      frame(type.headers, flag.endHeaders, 1, Buffer.concat([postBlock(check), literal(":method", "GET")])),
    ],
    ...refused,
    "reset 1",
  ),
  attack(
    "a body longer than its length",
    () => [
      request(0, flag.endHeaders, { "content-length": "1" }),
      frame(type.data, flag.endStream, 1, Buffer.alloc(100)),
    ],
    ...refused,
    "reset 1",
  ),
  attack(
    "a head that is not HPACK",
    () => [frame(type.headers, flag.endHeaders, 1, Buffer.alloc(1_000, 0xff))],
    "goaway 9",
    "closed",
  ),
  attack(
    "80 answers that are never read",
    () =>
      joined(
        [frame(type.settings, 0, 0, setting(4, 0))],
        many(80, (at) => request(at, flag.endHeaders | flag.endStream)),
      ),
    "open",
    "closed",
  ),
];
