import type { Attack } from "../attack.ts";
import { headOf, open, pour, readAnswer } from "../send/http1.ts";

const MiB = 1024 ** 2;
const check = "/grpc.health.v1.Health/Check";
const json = { "Content-Type": "application/json" };

type Pieces = Iterable<Uint8Array | string>;

/** Raw bytes on a new connection. Requests with a credential use the target's `headers`. */
const bytes = (
  name: string,
  by: Attack["by"],
  pieces: (headers: Readonly<Record<string, string>>) => Pieces,
  ...expected: readonly string[]
): Attack => ({
  ...{ name, by, expected },
  async send(target) {
    const socket = open(target);
    const answer = readAnswer(socket);
    await pour(socket, pieces(target.headers));
    return answer;
  },
});

/** The head of a POST to the health check, with these headers instead of a length. */
const head = (headers: Readonly<Record<string, string | number>>): string =>
  headOf("POST", check, { ...json, ...headers });
const signed = (path: string, headers: Readonly<Record<string, string | number>>): string =>
  headOf("POST", path, { ...json, ...headers });

function* repeat(count: number, piece: string, atOnce = 1_000): Generator<Uint8Array> {
  const whole = Buffer.alloc(piece.length * atOnce, piece);
  for (let left = count; left > 0; left -= atOnce)
    yield left >= atOnce ? whole : whole.subarray(0, left * piece.length);
}

function* joined(...all: readonly Pieces[]): Generator<Uint8Array | string> {
  for (const pieces of all) yield* pieces;
}

const chunked = { "Transfer-Encoding": "chunked" };
const bad = ["400", "400 invalid_argument", "closed"];

/** Wrong lengths, chunks, heads and pipelines. */
export const http1: readonly Attack[] = [
  bytes(
    "a Content-Length of 2^63",
    "anonymous",
    () => [head({ "Content-Length": "9223372036854775808" }), "{}"],
    "413",
    "429 resource_exhausted",
    ...bad,
  ),
  bytes("a Content-Length below zero", "anonymous", () => [head({ "Content-Length": "-1" }), "{}"], ...bad),
  bytes(
    "a Content-Length in hexadecimal",
    "anonymous",
    () => [head({ "Content-Length": "0x10" }), "{}"],
    ...bad,
  ),
  bytes(
    "two lengths",
    "anonymous",
    () => [
      headOf("POST", check, { "Content-Length": 2 }).replace("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\n"),
      "{}",
    ],
    ...bad,
  ),
  bytes(
    "a length and chunks",
    "anonymous",
    () => [head({ "Content-Length": 2, ...chunked }), "0\r\n\r\n"],
    ...bad,
  ),
  bytes(
    "a length of 32 MiB and no body",
    "anonymous",
    () => [head({ "Content-Length": 32 * MiB })],
    "429 resource_exhausted",
  ),
  bytes(
    "a length of 32 MiB for a member's small call, and no body",
    "member",
    (headers) => [signed("/v2/usage.list", { ...headers, "Content-Length": 32 * MiB })],
    "413 invalid_argument",
  ),
  bytes(
    "a length of 1 TB for a member's task",
    "member",
    (headers) => [signed("/v2/task.create", { ...headers, "Content-Length": 1024 ** 4 })],
    "413 invalid_argument",
  ),
  bytes(
    "a body longer than its length",
    "anonymous",
    () => [head({ "Content-Length": 2 }), `{}${"x".repeat(MiB)}`],
    "200",
    ...bad,
  ),
  bytes("a chunk of 2^64 bytes", "anonymous", () => [head(chunked), "FFFFFFFFFFFFFFFFF\r\n{}"], ...bad),
  bytes(
    "chunk extensions of 20 MB",
    "anonymous",
    () => joined([head(chunked), "2;"], repeat(20, "a".repeat(MiB), 1)),
    "413",
    ...bad,
  ),
  bytes(
    "300,000 chunks of one byte",
    "member",
    (headers) =>
      joined([signed("/v2/usage.list", { ...headers, ...chunked })], repeat(300_000, "1\r\n1\r\n"), [
        "0\r\n\r\n",
      ]),
    "413 invalid_argument",
  ),
  bytes(
    "300,000 chunks of one byte without a credential",
    "anonymous",
    () => joined([head(chunked)], repeat(300_000, "1\r\n1\r\n"), ["0\r\n\r\n"]),
    "429 resource_exhausted",
  ),
  bytes(
    "300,000 chunks of one byte for a task",
    "member",
    (headers) =>
      joined([signed("/v2/task.create", { ...headers, ...chunked })], repeat(300_000, "1\r\n \r\n"), [
        "0\r\n\r\n",
      ]),
    "413 invalid_argument",
  ),
  bytes(
    "trailers of 2 MB",
    "anonymous",
    () => joined([head(chunked), "2\r\n{}\r\n0\r\n"], repeat(300_000, "A: b\r\n"), ["\r\n"]),
    "431",
    "200",
    ...bad,
  ),
  bytes("a header of 1 MB", "anonymous", () => [head({ A: "a".repeat(MiB) })], "431"),
  bytes(
    "100,000 headers",
    "anonymous",
    () => joined(["POST / HTTP/1.1\r\nHost: a\r\n"], repeat(100_000, "A: b\r\n"), ["\r\n"]),
    "431",
    "closed",
  ),
  bytes(
    "an address of 1 MB",
    "anonymous",
    () => [`GET /${"a".repeat(MiB)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    "431",
  ),
  bytes(
    "an address of 10,000 percent signs",
    "anonymous",
    () => [headOf("GET", `/v2/${"%".repeat(10_000)}`, { Connection: "close" })],
    "400 invalid_argument",
  ),
  bytes(
    "an address of 15,000 slashes",
    "anonymous",
    () => [headOf("GET", "/".repeat(15_000), { Connection: "close" })],
    "404 not_found",
    "404",
    "400",
  ),
  bytes("an unknown method", "anonymous", () => [headOf("DESTROY", "/", {})], ...bad),
  bytes("no Host", "anonymous", () => ["GET /livez HTTP/1.1\r\n\r\n"], ...bad),
  bytes("line feeds alone", "anonymous", () => ["GET /livez HTTP/1.1\nHost: a\n\n"], ...bad),
  bytes("a NUL in a header", "anonymous", () => [headOf("GET", "/livez", { A: "a\0b" })], ...bad),
  bytes(
    "a header in two lines",
    "anonymous",
    () => [headOf("GET", "/livez", { A: "a\r\n b", Connection: "close" })],
    "200",
    ...bad,
  ),
  bytes(
    "an upgrade to h2c",
    "anonymous",
    () => [
      headOf("GET", "/livez", {
        Connection: "Upgrade, HTTP2-Settings",
        Upgrade: "h2c",
        "HTTP2-Settings": "AAMAAABk",
      }),
    ],
    "200",
    ...bad,
  ),
  bytes(
    "an upgrade to a WebSocket",
    "anonymous",
    () => [headOf("GET", "/livez", { Connection: "Upgrade", Upgrade: "websocket" })],
    "200",
    ...bad,
  ),
  bytes("CONNECT", "anonymous", () => ["CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: a\r\n\r\n"], ...bad),
  bytes(
    "OPTIONS *",
    "anonymous",
    () => [headOf("OPTIONS", "*", { Connection: "close" })],
    "404 not_found",
    "204",
    ...bad,
  ),
  bytes(
    "a TLS greeting",
    "anonymous",
    () => [Buffer.from("160301020001000100fc0303", "hex"), Buffer.alloc(4_096)],
    ...bad,
  ),
  bytes("10 MB of noise", "anonymous", () => repeat(10, "\u007f\u0001".repeat(MiB / 2), 1), ...bad),
  bytes(
    "10,000 requests in one piece",
    "anonymous",
    () => repeat(10_000, headOf("GET", "/livez", {})),
    "200",
  ),
  bytes(
    "Expect: 100-continue with 32 MiB announced",
    "anonymous",
    () => [head({ Expect: "100-continue", "Content-Length": 32 * MiB })],
    "429 resource_exhausted",
  ),
  bytes(
    "an unknown expectation",
    "anonymous",
    () => [head({ Expect: "tea", "Content-Length": 2 }), "{}"],
    "417",
    "200",
    ...bad,
  ),
];
