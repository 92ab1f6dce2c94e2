import { Agent, type IncomingMessage, request as startHttp1 } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { FuzzAnswer, FuzzRequest } from "./request.ts";

/** What became of a request: an answer, a stream that is open and has said nothing yet, or none, and why. */
export type Outcome = { readonly answer: FuzzAnswer } | { readonly silent: true } | { readonly unanswered: string };

/** Sends requests over connections that it keeps. */
export interface FuzzClient {
  send(request: FuzzRequest): Promise<Outcome>;
  close(): void;
}

/** How long the client waits, in milliseconds. */
export interface Patience {
  /** For any answer; longer than a call may be held. */
  readonly answerMs: number;
  /** For the first bytes of a stream, which may have nothing to tell. */
  readonly silenceMs: number;
  /** From a stream's first bytes until the client goes away from it. */
  readonly streamMs: number;
}

/** What an exchange tells of its answer as it comes. */
interface Hearing {
  head(status: number, headers: Readonly<Record<string, unknown>>): void;
  body(chunk: Buffer): void;
  trailers(fields: Readonly<Record<string, unknown>>): void;
  end(): void;
  fail(why: string): void;
}

/** Lets go of an exchange; early when there is more to come. */
type End = (early: boolean) => void;

/** Begins an exchange. */
type Begin = (request: FuzzRequest, hearing: Hearing) => End;

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

function exchange(begin: Begin, request: FuzzRequest, { answerMs, silenceMs, streamMs }: Patience): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const heard = { status: 0, headers: {}, trailers: {}, chunks: [] as Buffer[] };
  const timers = [setTimeout(() => fail(`nothing more after ${answerMs} ms`), answerMs)];
  if (request.streaming) timers.push(setTimeout(() => heard.status === 0 && finish({ silent: true }), silenceMs));

  function finish(outcome: Outcome): void {
    for (const timer of timers) clearTimeout(timer);
    resolve(outcome);
    end(!("answer" in outcome) || outcome.answer.cut);
  }
  function fail(why: string): void {
    finish({ unanswered: heard.status === 0 ? why : `${heard.status}, but no end of it: ${why}` });
  }
  function answer(cut: boolean): void {
    const { status, headers, trailers, chunks } = heard;
    finish({ answer: { status, headers, trailers, body: Buffer.concat(chunks), cut } });
  }

  const end = begin(request, {
    head(status, headers) {
      Object.assign(heard, { status, headers: plain(headers) });
      // A refusal ends by itself.
      if (request.streaming && status === 200) timers.push(setTimeout(() => answer(true), streamMs));
    },
    body: (chunk) => void heard.chunks.push(chunk),
    trailers: (fields) => Object.assign(heard.trailers, plain(fields)),
    end: () => answer(false),
    fail,
  });
  return promise;
}

/** Names of HTTP/2's own are left out. */
const plain = (fields: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (name.startsWith(":") ? [] : [[name, String(value)]])));

const reasonOf = (error: Error): string => ("code" in error ? `${error.code}` : error.message);

function overHttp1(origin: string): { readonly begin: Begin; readonly close: () => void } {
  const agent = new Agent({ keepAlive: true });
  const begin: Begin = ({ method, path, headers, body }, hearing) => {
    // Node leaves the length out of a DELETE, whatever is sent.
    const length = body.length > 0 ? { "content-length": body.length } : {};
    const sent = startHttp1(origin, { method, path, headers: { ...(headers as Record<string, string | string[]>), ...length }, agent });
    sent.on("response", (response: IncomingMessage) => {
      hearing.head(response.statusCode ?? 0, response.headers);
      response.on("data", hearing.body);
      response.on("end", () => {
        hearing.trailers(response.trailers);
        hearing.end();
      });
      response.on("error", (error) => hearing.fail(reasonOf(error)));
    });
    sent.on("error", (error) => hearing.fail(reasonOf(error)));
    sent.end(body.length === 0 ? undefined : body);
    return (early) => void (early && sent.destroy());
  };
  return { begin, close: () => agent.destroy() };
}

/** So many connections at a time; the server takes a hundred requests on each. */
const sessionsMax = 3;
/** After so many requests another connection takes their place: servers count what is strange on each. */
const requestsMax = 1_000;
/** Megabytes: by default a client that still has ten to send refuses what comes in. */
const maxSessionMemory = 1_000;

interface Session {
  readonly http2: ClientHttp2Session;
  /** Begun, and those of them that are not over. */
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
    // Its requests hear of it.
    http2.on("error", () => undefined).on("close", () => all.delete(http2));
    return { http2, requests: 0, open: 0 };
  }

  /** A connection that still takes requests. */
  function session(): Session {
    turn = (turn + 1) % sessionsMax;
    const known = sessions[turn];
    const isFit = known && known.requests < requestsMax && !known.http2.closed && !known.http2.destroyed;
    const fit = isFit ? known : newSession();
    sessions[turn] = fit;
    return fit;
  }

  const begin: Begin = ({ method, path, headers, body }, hearing) => {
    const endStream = body.length === 0;
    const used = session();
    used.requests += 1;
    used.open += 1;
    const all = { ...(headers as Record<string, string | string[]>), ":method": method, ":path": path };
    const stream = used.http2.request(all, { endStream });
    hear(stream, hearing);
    stream.on("close", () => {
      used.open -= 1;
      // Not earlier: what is under way then would be refused.
      if (used.requests === requestsMax && used.open === 0) used.http2.close();
    });
    if (!endStream) stream.end(body);
    return (early) => void ((early || !stream.writableFinished) && stream.close(constants.NGHTTP2_CANCEL));
  };
  return { begin, close: () => all.forEach((open) => void open.destroy()) };
}

function hear(stream: ClientHttp2Stream, hearing: Hearing): void {
  stream.on("response", ({ ":status": status, ...fields }) => hearing.head(Number(status), fields));
  stream.on("data", hearing.body);
  stream.on("trailers", hearing.trailers);
  stream.on("error", (error) => hearing.fail(`${reasonOf(error)}, reset with ${stream.rstCode}`));
  // The server need not have read what was sent.
  stream.on("end", () => stream.aborted || hearing.end());
  stream.on("close", () => hearing.fail(`reset with ${stream.rstCode}`));
}
