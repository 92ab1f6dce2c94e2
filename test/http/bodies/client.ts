import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { type ClientHttp2Stream, connect } from "node:http2";
import { text } from "node:stream/consumers";
import type { BodyWire } from "./wires.ts";

/** A request that is being sent. */
export interface Sending {
  write(bytes: Uint8Array): void;
  end(): void;
  /** Status, headers, and the answer's text with its trailers as lines. */
  answer(): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }>;
  /** Resolves when the connection or the stream is closed. */
  readonly closed: Promise<unknown>;
  destroy(): void;
}

/** Begins a request on a new connection. */
export function begin(
  url: string,
  { path, type, http2 }: Pick<BodyWire, "path" | "type" | "http2">,
  headers: Record<string, string> = {},
): Sending {
  const all = { "content-type": type, "x-service-api-key": "ann", ...headers };
  return http2 ? overHttp2(url, path, all) : overHttp1(url, path, all);
}

function overHttp1(url: string, path: string, headers: Record<string, string>): Sending {
  const sent: ClientRequest = request(`${url}${path}`, { method: "POST", agent: false, headers });
  sent.on("error", () => undefined);
  sent.flushHeaders();
  const response = once(sent, "response");
  response.catch(() => undefined);
  return {
    write: (bytes) => void sent.write(bytes),
    end: () => void sent.end(),
    async answer() {
      const [answer] = await response;
      return { status: answer.statusCode, headers: new Headers(answer.headers), text: await text(answer) };
    },
    closed: new Promise((resolve) => sent.once("close", resolve)),
    destroy: () => void sent.destroy(),
  };
}

function overHttp2(url: string, path: string, headers: Record<string, string>): Sending {
  const session = connect(url).on("error", () => undefined);
  const stream: ClientHttp2Stream = session.request(
    { ":method": "POST", ":path": path, ...headers },
    { endStream: false },
  );
  stream.on("error", () => undefined);
  const trailers: string[] = [];
  stream.on("trailers", (fields) => {
    for (const [name, value] of Object.entries(fields)) trailers.push(`${name}: ${String(value)}\r\n`);
  });
  const response = once(stream, "response");
  response.catch(() => undefined);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
  // The client's side may stay open; the answer can still be complete.
  const ended = once(stream, "end");
  ended.catch(() => undefined);
  const closed = new Promise((resolve) => stream.once("close", resolve)).finally(() => session.close());
  return {
    write: (bytes) => void stream.write(bytes),
    end: () => void stream.end(),
    async answer() {
      const [{ ":status": status, ...fields }] = await response;
      const plain = Object.entries(fields).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as [string, string]] : [],
      );
      await ended;
      return {
        status,
        headers: new Headers(plain),
        text: Buffer.concat(chunks).toString() + trailers.join(""),
      };
    },
    closed,
    destroy: () => void session.destroy(),
  };
}
