import type { Target } from "../attack.ts";
import { open, pour } from "./http1.ts";

/** Types of HTTP/2 frames (RFC 9113, section 6). */
export const type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;
export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;

/** An HTTP/2 frame, valid or not. */
export function frame(
  kind: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(kind, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header field in HPACK without a table: a literal with its name (RFC 7541, 6.2.2). */
export function literal(name: string, value: string): Buffer {
  const text = (word: string): Buffer => Buffer.concat([length(word.length), Buffer.from(word)]);
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function length(size: number): Buffer {
  if (size < 0x7f) return Buffer.from([size]);
  const bytes = [0x7f];
  let left = size - 0x7f;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return Buffer.from([...bytes, left]);
}

/** The head of a POST, as a header block. */
export const postBlock = (path: string, headers: Readonly<Record<string, string>> = {}): Buffer =>
  Buffer.concat(
    Object.entries({
      ":method": "POST",
      ":scheme": "http",
      ":path": path,
      ":authority": "localhost",
      ...headers,
    }).map(([name, value]) => literal(name, value)),
  );

const preface = [Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(type.settings, 0, 0)];

const lastPing = frame(type.ping, 0, 0, Buffer.from("all sent"));
const lastPingAnswer = frame(type.ping, flag.ack, 0, Buffer.from("all sent"));
const quietMs = 5_000;

/**
 * Sends frames on a new connection, as fast as the server reads them, and a PING after them. The answer:
 * `goaway N`, `reset N` with the code of the last stream that was reset, `closed`, or `open` when the server
 * has answered the PING and nothing else, or has sent nothing for five seconds.
 */
export async function sendFrames(target: Target, frames: Iterable<Uint8Array>): Promise<string> {
  const socket = open(target);
  const over = Promise.withResolvers<string>();
  let unread: Buffer = Buffer.alloc(0);
  let said: string | undefined;
  socket.on("close", () => over.resolve("closed"));
  socket.on("data", (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    while (unread.length >= 9 && unread.length >= 9 + unread.readUIntBE(0, 3)) {
      const received = unread.subarray(0, 9 + unread.readUIntBE(0, 3));
      said = meaningOf(received) ?? said;
      if (received.equals(lastPingAnswer)) over.resolve("open");
      unread = unread.subarray(received.length);
    }
  });
  await Promise.race([pour(socket, both(preface, frames)), over.promise]);
  socket.write(lastPing);
  const quiet = setTimeout(() => over.resolve("open"), quietMs);
  const end = await over.promise;
  clearTimeout(quiet);
  socket.destroy();
  return said ?? end;
}

function meaningOf(received: Buffer): string | undefined {
  const kind = received.readUInt8(3);
  if (kind === type.goaway) return `goaway ${received.readUInt32BE(13)}`;
  return kind === type.reset ? `reset ${received.readUInt32BE(9)}` : undefined;
}

function* both(first: Iterable<Uint8Array>, second: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield* first;
  yield* second;
}
