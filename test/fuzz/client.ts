import { Agent, type IncomingMessage, request as startHttp1 } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { FuzzAnswer, FuzzRequest } from "./request.ts";

/** The outcome of a request: an answer, an open stream without data so far, or no answer with a reason. */
export type Outcome =
  | { readonly answer: FuzzAnswer }
  | { readonly silent: true }
  | { readonly unanswered: string };

/** Sends requests over persistent connections. */
export interface FuzzClient {
  send(request: FuzzRequest): Promise<Outcome>;
  close(): void;
}

/** How long the client waits, in milliseconds. */
export interface Patience {
  /** For any answer; longer than a call may be held. */
  readonly answerMs: number;
  /** For the first bytes of a stream, which may have no data. */
  readonly silenceMs: number;
  /** From a stream's first bytes until the client disconnects. */
  readonly streamMs: number;
}

/** The parts of an answer that an exchange reports as they arrive. */
interface ExchangeEvents {
  head(status: number, headers: Readonly<Record<string, unknown>>): void;
  body(chunk: Buffer): void;
  trailers(fields: Readonly<Record<string, unknown>>): void;
  end(): void;
  fail(why: string): void;
}

/** Ends an exchange; early when more data follows. */
type End = (early: boolean) => void;

/** Begins an exchange. */
type Begin = (request: FuzzRequest, events: ExchangeEvents) => End;

export function fuzzClient(origin: string, patience: Patience): FuzzClient {
  const http1 = overHttp1(origin);
  const http2 = overHttp2(origin);
  return {
    send: (request) => exchange(request.http === 1 ? http1.begin : http2.begin, request, patience),
    close() {
      http1.close();
      http2.close();
    },
  };
}

function exchange(
  begin: Begin,
  request: FuzzRequest,
  { answerMs, silenceMs, streamMs }: Patience,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const received = { status: 0, headers: {}, trailers: {}, chunks: [] as Buffer[] };
  const timers = [setTimeout(() => fail(`nothing more after ${answerMs} ms`), answerMs)];
  if (request.streaming)
    timers.push(setTimeout(() => received.status === 0 && finish({ silent: true }), silenceMs));

  function finish(outcome: Outcome): void {
    for (const timer of timers) clearTimeout(timer);
    resolve(outcome);
    end(!("answer" in outcome) || outcome.answer.cut);
  }
  function fail(why: string): void {
    finish({ unanswered: received.status === 0 ? why : `${received.status}, but no end of it: ${why}` });
  }
  function answer(cut: boolean): void {
    const { status, headers, trailers, chunks } = received;
    finish({ answer: { status, headers, trailers, body: Buffer.concat(chunks), cut } });
  }

  const end = begin(request, {
    head(status, headers) {
      Object.assign(received, { status, headers: plain(headers) });
      // A refusal ends by itself.
      if (request.streaming && status === 200) timers.push(setTimeout(() => answer(true), streamMs));
    },
    body: (chunk) => void received.chunks.push(chunk),
    trailers: (fields) => Object.assign(received.trailers, plain(fields)),
    end: () => answer(false),
    fail,
  });
  return promise;
}

/** HTTP/2's pseudo-headers are left out. */
const plain = (fields: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (name.startsWith(":") ? [] : [[name, String(value)]])),
  );

const reasonOf = (error: Error): string => ("code" in error ? `${error.code}` : error.message);

function overHttp1(origin: string): { readonly begin: Begin; readonly close: () => void } {
  const agent = new Agent({ keepAlive: true });
  const begin: Begin = ({ method, path, headers, body }, events) => {
    // Node sends no length with a DELETE, for any body.
    const length = body.length > 0 ? { "content-length": body.length } : {};
    const sent = startHttp1(origin, {
      method,
      path,
      headers: { ...(headers as Record<string, string | string[]>), ...length },
      agent,
    });
    sent.on("response", (response: IncomingMessage) => {
      events.head(response.statusCode ?? 0, response.headers);
      response.on("data", events.body);
      response.on("end", () => {
        events.trailers(response.trailers);
        events.end();
      });
      response.on("error", (error) => events.fail(reasonOf(error)));
    });
    sent.on("error", (error) => events.fail(reasonOf(error)));
    sent.end(body.length === 0 ? undefined : body);
    return (early) => void (early && sent.destroy());
  };
  return { begin, close: () => agent.destroy() };
}

/** Number of connections at a time; the server accepts a hundred requests on each. */
const sessionsMax = 3;
/** Requests after which a new connection replaces the old one: servers count errors per connection. */
const requestsMax = 1_000;
/** Megabytes: by default a client that still has ten to send refuses incoming data. */
const maxSessionMemory = 1_000;

interface Session {
  readonly http2: ClientHttp2Session;
  /** Started requests, and those that have not ended. */
  requests: number;
  open: number;
}

function overHttp2(origin: string): { readonly begin: Begin; readonly close: () => void } {
  const sessions: Session[] = [];
  const all = new Set<ClientHttp2Session>();
  let turn = 0;

  function newSession(): Session {
    const http2 = connect(origin, { maxSessionMemory });
    all.add(http2);
    // Its requests report the error.
    http2.on("error", () => undefined).on("close", () => all.delete(http2));
    return { http2, requests: 0, open: 0 };
  }

  /** A connection that still accepts requests. */
  function session(): Session {
    turn = (turn + 1) % sessionsMax;
    const known = sessions[turn];
    const isFit = known && known.requests < requestsMax && !known.http2.closed && !known.http2.destroyed;
    const fit = isFit ? known : newSession();
    sessions[turn] = fit;
    return fit;
  }

  const begin: Begin = ({ method, path, headers, body }, events) => {
    const endStream = body.length === 0;
    const used = session();
    used.requests += 1;
    used.open += 1;
    const all = { ...(headers as Record<string, string | string[]>), ":method": method, ":path": path };
    const stream = used.http2.request(all, { endStream });
    reportAnswer(stream, events);
    stream.on("close", () => {
      used.open -= 1;
      // Not earlier: open requests would be refused.
      if (used.requests === requestsMax && used.open === 0) used.http2.close();
    });
    if (!endStream) stream.end(body);
    return (early) => void ((early || !stream.writableFinished) && stream.close(constants.NGHTTP2_CANCEL));
  };
  return { begin, close: () => all.forEach((open) => void open.destroy()) };
}

function reportAnswer(stream: ClientHttp2Stream, events: ExchangeEvents): void {
  stream.on("response", ({ ":status": status, ...fields }) => events.head(Number(status), fields));
  stream.on("data", events.body);
  stream.on("trailers", events.trailers);
  stream.on("error", (error) => events.fail(`${reasonOf(error)}, reset with ${stream.rstCode}`));
  // The server may have left the body unread.
  stream.on("end", () => stream.aborted || events.end());
  stream.on("close", () => events.fail(`reset with ${stream.rstCode}`));
}
