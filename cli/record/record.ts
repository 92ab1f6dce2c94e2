import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { type Exchange, withoutSecrets } from "./recording.ts";
import { jsonOf, readBody } from "./serve.ts";

/** Headers of a connection, which are not sent on. */
const hop =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|content-encoding|accept-encoding|expect|upgrade|te|trailer)$/;
/** Headers of answers that a replay sends; others may hold secrets. */
const kept =
  /^(?:content-type|content-disposition|retry-after|location|x-request-id|x-request-warnings|x-ratelimit-.*|ratelimit.*|idempotent-replayed)$/;

export interface Recorder {
  /** The origin of the server that is recorded. */
  readonly target: string;
  readonly fetch: typeof fetch;
  /** The own address. */
  readonly origin: () => string;
  readonly write: (exchange: Exchange) => void;
  readonly note: (text: string) => void;
}

/**
 * Sends each call to the server and records it with its answer. The client gets the answer with links to this
 * address.
 */
export function recorder({ target, fetch, origin, write, note }: Recorder): RequestListener {
  let calls = 0;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const n = ++calls;
    const { method = "GET", url = "/" } = request;
    const body = await readBody(request);
    const left = new AbortController();
    response.once("close", () => left.abort());
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      hop.test(name) || value === undefined ? [] : [[name, [value].flat().join(", ")]],
    );
    const init = { method, headers, redirect: "manual", signal: left.signal } as const;
    const answer = await fetch(
      `${target}${url}`,
      body.length === 0 ? init : { ...init, body: new Uint8Array(body) },
    );
    const type = answer.headers.get("content-type") ?? "";
    const isText = /json|text\/|xml/.test(type);
    const local = (text: string) => text.replaceAll(target, origin());
    response.writeHead(
      answer.status,
      Object.fromEntries(
        [...answer.headers].filter(([name]) => !hop.test(name)).map(([name, value]) => [name, local(value)]),
      ),
    );
    // A stream arrives event by event; other texts are sent whole, with their links replaced.
    const isStream = type.startsWith("text/event-stream");
    const pieces =
      answer.body === null
        ? Readable.from([])
        : Readable.fromWeb(answer.body as import("node:stream/web").ReadableStream);
    const got: Uint8Array[] = [];
    const whole = await readBody(pieces, (piece) => {
      got.push(piece);
      if (isStream || !isText) response.write(piece);
    }).catch((thrown) => {
      if (!left.signal.aborted) throw thrown;
      return Buffer.concat(got);
    });
    response.end(isStream || !isText ? undefined : local(whole.toString()));
    const stored = (text: string) =>
      withoutSecrets(text).replaceAll(target, "{origin}").replaceAll(origin(), "{origin}");
    const json = jsonOf(request, body);
    write({
      n,
      method,
      path: stored(url),
      request: json === null ? null : stored(json),
      status: answer.status,
      headers: Object.fromEntries(
        [...answer.headers].filter(([name]) => kept.test(name)).map(([name, value]) => [name, stored(value)]),
      ),
      ...(isText
        ? { body: stored(whole.toString()), encoding: "utf8" }
        : { body: whole.toString("base64"), encoding: "base64" }),
    });
    note(`${answer.status} ${method} ${url.split("?", 1)[0]}`);
  }

  return (request, response) => {
    pass(request, response).catch((thrown: unknown) => {
      if (!response.destroyed)
        note(
          `not recorded: ${request.method} ${request.url?.split("?", 1)[0]}: ${thrown instanceof Error ? thrown.message : ""}`,
        );
      if (!response.headersSent) response.writeHead(502, { "Content-Type": "application/json" });
      response.end(
        response.headersSent
          ? undefined
          : `{"ok":false,"error":{"code":"unavailable","message":"the recorded server does not answer"}}`,
      );
    });
  };
}
