import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:http2";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { V2Body } from "../support/wires.ts";

/** A request as sent over the socket; only mandatory HTTP headers are added. */
export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** One chunk is sent with its length in the head; several are sent chunked. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
}

export interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it was sent, maybe compressed. */
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as the client reads it, member by member. */
  readonly json: () => V2Body;
}

const decompressions: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

const replyOf = (status: number, headers: Headers, bytes: Buffer): RawReply => ({
  status,
  headers,
  bytes,
  text: bytes.toString(),
  json: () =>
    JSON.parse(
      (decompressions[headers.get("content-encoding") ?? ""]?.(bytes) ?? bytes).toString(),
    ) as V2Body,
});

/** Over HTTP/1.1, on a new connection. */
export async function send(
  url: string,
  { method = "POST", headers = {}, body }: RawRequest = {},
): Promise<RawReply> {
  const sent = request(url, { method, headers, agent: false });
  // The refusal may arrive, and the connection close, before everything is sent.
  sent.on("error", () => undefined);
  const answer = once(sent, "response");
  if (Array.isArray(body)) for (const chunk of body) sent.write(chunk);
  else if (body !== undefined) {
    const bytes = Buffer.from(body as string);
    sent.setHeader("Content-Length", bytes.length);
    sent.write(bytes);
  }
  sent.end();
  const [response] = await answer;
  return replyOf(response.statusCode, new Headers(response.headers), await buffer(response));
}

/** Over cleartext HTTP/2; trailers are returned among the headers. */
export async function sendHttp2(
  url: string,
  { method = "POST", headers = {}, body = [] }: RawRequest = {},
): Promise<RawReply> {
  const { origin, pathname, search } = new URL(url);
  const session = connect(origin);
  try {
    const stream = session.request({ ":method": method, ":path": pathname + search, ...headers });
    const answer = once(stream, "response");
    for (const chunk of [body].flat()) stream.write(chunk);
    stream.end();
    const trailers: Record<string, unknown> = {};
    stream.on("trailers", (fields) => Object.assign(trailers, fields));
    const [{ ":status": status, ...fields }] = await answer;
    const bytes = await buffer(stream);
    const plain = Object.entries({ ...fields, ...trailers }).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : [],
    );
    return replyOf(Number(status), new Headers(plain), bytes);
  } finally {
    session.close();
  }
}

/** A message in the envelope of gRPC and of streams. */
export function framed(bytes: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** The flag of the last envelope of a Connect stream. */
const endFlag = 2;

/** The content of a Connect stream's end envelope, its only envelope. */
export function endOf({ bytes }: RawReply): {
  readonly error?: { readonly code: string; readonly message: string };
} {
  if (bytes[0] !== endFlag || bytes.readUInt32BE(1) !== bytes.length - 5) throw new Error("not an end alone");
  return JSON.parse(bytes.subarray(5).toString());
}
