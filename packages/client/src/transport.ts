import type { Answered } from "./called.ts";
import { envelope } from "./changes.ts";
import { ApiError, ConnectionError, refusalIn } from "./errors.ts";
import { readEvents } from "./events.ts";
import type { JsonValue } from "./json.ts";
import { type Logger, type LogLevel, type LogOptions, logOf } from "./log.ts";
import type { Places } from "./places.ts";
import {
  environment,
  fetchDirectly,
  fetchOf,
  type Limit,
  randomHex,
  sleep,
  textOf,
  timeLimit,
} from "./runtime.ts";

/** Supplies access tokens. `refresh` returns another one after the server has refused `token`. */
export interface TokenSource {
  token(): Promise<string>;
  refresh(token: string): Promise<string>;
}

/** Settings of a client. */
export interface ClientOptions extends LogOptions {
  /**
   * Address of the installation, for example `https://agents.example.com`. Default: the environment variable
   * `ATP_URL`.
   */
  readonly baseUrl?: string | undefined;
  /** A general API key (`sk-…`). Default: the environment variable `ATP_KEY`. */
  readonly apiKey?: string | undefined;
  /** An OAuth access token, or what supplies it ({@link TokenSource}); instead of a key. */
  readonly token?: string | TokenSource | undefined;
  /** Milliseconds for one attempt of a call, 75,000 by default: more than the server holds a call. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed call is repeated, 4 by default. */
  readonly retries?: number | undefined;
  /**
   * The longest `Retry-After` in seconds that is waited for, 60 by default. With a longer one the call fails
   * at once.
   */
  readonly maxRetryAfter?: number | undefined;
  /** Ends all calls and streams of the client. */
  readonly signal?: AbortSignal | undefined;
  /** Refuses requests with unknown members (`Prefer: handling=strict`). */
  readonly strict?: boolean | undefined;
  /** Called with warnings about members of a request that had no effect. */
  readonly onWarning?: ((warnings: readonly string[], operation: string) => void) | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Replaces the pauses between attempts; for tests. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** Settings of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  /** Default: a new random key for each call that changes something; its repeats have the same key. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A request as the transport sends it. */
export interface Outgoing {
  /** Name in errors, for example `task.create`. */
  readonly operation: string;
  /** Path below the base URL, for example `/v2/task.create`. */
  readonly path: string;
  readonly body: object;
  readonly isChange: boolean;
  /** The body is a message of a stream of Connect. */
  readonly isStream?: boolean;
}

/** An event of a stream, with its parsed JSON. */
export interface StreamEvent {
  /** The type of the event, for example `text_delta`. */
  readonly event: string;
  readonly data: unknown;
}

/** How a stream is opened. */
export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Carries the calls of a client, with its credential. `createClient` makes one that calls over HTTP; {@link
 * clientOver} takes any other, for example one that calls operations in the process of the server.
 */
export interface Transport {
  readonly options: ClientOptions;
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly log: Logger;
  /** Bounds the calls at the same time. `send` uses it itself, except for calls that the server holds. */
  readonly places: Places;
  /** Whether a stream that was cut is opened again. */
  readonly reopens: boolean;
  /**
   * Makes one call. The answer is JSON in the form that the schema states: that of v2 for an operation that
   * has a name there, else that of Connect.
   *
   * @throws ApiError for a refusal, ConnectionError when no complete answer arrived, the reason of the signal
   * when it is aborted
   */
  send(request: Outgoing, options?: CallOptions): Promise<Answered<unknown>>;
  /**
   * Opens a stream once; the limit is renewed by the reader. Null for an answer without a body: nothing will
   * follow. @throws ApiError, ConnectionError
   */
  open(
    request: Outgoing,
    limit: Limit,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Opens a stream of events of v2 once: its events up to its end, without that. Null: nothing will follow.
   *
   * @throws ApiError, ConnectionError; the events throw them too, and the reason of the signal
   */
  events(request: Outgoing, options?: StreamOptions): Promise<AsyncIterable<StreamEvent> | null>;
}

const firstPauseMs = 500;
const longestPauseMs = 20_000;

/** The pause before an attempt: doubled each time, and shortened at random so that clients spread. */
export const backoffMs = (attempt: number, longestMs: number = longestPauseMs): number =>
  Math.min(longestMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2);

/**
 * Whether a repeat can succeed. A used up quota stays used up; over Connect it has the code of a rate limit,
 * but no `Retry-After`.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status, code, retryAfter } = error;
  const isLimited = code === "rate_limited" || (status === 429 && retryAfter !== undefined);
  return status === 408 || isLimited || code === "unavailable" || (status >= 500 && status !== 501);
}

const isTokenSource = (token: ClientOptions["token"]): token is TokenSource => typeof token === "object";

/** Without a bound. */
const anyPlace: Places = (work) => work();
const isHeld = (body: object): boolean => "wait_seconds" in body && Number(body.wait_seconds) > 0;

/** How the calls of a client differ from those of a worker. */
export interface TransportBounds {
  /** The longest pause between attempts. */
  readonly longestMs?: number;
  readonly places?: Places;
  readonly logLevel?: LogLevel;
}

/** @throws TypeError without an address, or for an unknown level of the log. */
export function transport(
  options: ClientOptions,
  { longestMs, places = anyPlace, logLevel = "warn" }: TransportBounds = {},
): Transport {
  const baseUrl = (options.baseUrl ?? environment("ATP_URL") ?? "").replace(/\/+$/, "");
  if (!/^https?:\/\//.test(baseUrl))
    throw new TypeError("baseUrl: must be an http or https address; or set ATP_URL");
  const log = logOf(options, logLevel);
  const doFetch = fetchOf(options.fetch);
  const doSleep = options.sleep ?? sleep;

  async function credential(): Promise<{
    readonly token?: string;
    readonly headers: Record<string, string>;
  }> {
    const token = isTokenSource(options.token) ? await options.token.token() : options.token;
    if (token !== undefined) return { token, headers: { authorization: `Bearer ${token}` } };
    const key = options.apiKey ?? environment("ATP_KEY");
    return { headers: key ? { "x-service-api-key": key } : {} };
  }

  async function post(
    { path, body, isStream = false }: Outgoing,
    signal: AbortSignal,
    more: Readonly<Record<string, string>>,
    auth: Record<string, string>,
  ) {
    const prefer: Record<string, string> = options.strict ? { prefer: "handling=strict" } : {};
    const type = isStream ? "application/connect+json" : "application/json";
    const text = JSON.stringify(body);
    const headers = { "content-type": type, ...prefer, ...options.headers, ...auth, ...more };
    return await fetchDirectly(doFetch, `${baseUrl}${path}`, {
      method: "POST",
      headers,
      body: isStream ? envelope(text) : text,
      signal,
    });
  }

  /** One attempt, with one refresh of a token that the server refuses. */
  async function attempt(
    request: Outgoing,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const { token, headers: auth } = await credential();
    const reply = await post(request, signal, headers, auth);
    if (reply.status !== 401 || token === undefined || !isTokenSource(options.token)) return reply;
    await reply.body?.cancel();
    const renewed = await options.token.refresh(token);
    return await post(request, signal, headers, { authorization: `Bearer ${renewed}` });
  }

  async function once(
    request: Outgoing,
    limit: Limit,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answered<JsonValue>> {
    const begun = Date.now();
    const reply = await attempt(request, limit.signal, headers);
    log.debug(
      `${request.operation}: HTTP ${reply.status} in ${Date.now() - begun} ms, ${reply.headers.get("x-request-id") ?? "no request id"}`,
    );
    const text = await textOf(reply);
    const body = parse(text);
    if (!reply.ok) throw refusalIn(body, headOf(reply, request));
    if (body === undefined) throw new ConnectionError(`the answer is not complete: ${request.operation}`);
    const warnings = warningsIn(body);
    if (warnings.length > 0) options.onWarning?.(warnings, request.operation);
    return { data: body, response: reply, requestId: headOf(reply, request).requestId };
  }

  /** A signal of a call together with that of the client. */
  const until = (signal: AbortSignal | undefined): AbortSignal | undefined =>
    signal && options.signal ? AbortSignal.any([signal, options.signal]) : (signal ?? options.signal);

  async function send(request: Outgoing, call: CallOptions = {}): Promise<Answered<unknown>> {
    const { retries = options.retries ?? 4, timeoutMs = options.timeoutMs ?? 75_000 } = call;
    const signal = until(call.signal);
    const key: Record<string, string> = request.isChange
      ? { "idempotency-key": call.idempotencyKey ?? randomHex(16) }
      : {};
    const within = isHeld(request.body) ? anyPlace : places;
    for (let tried = 0; ; tried += 1) {
      try {
        return await within(
          () => attemptWithin(timeoutMs, request, { ...key, ...call.headers }, signal),
          signal,
        );
      } catch (error) {
        signal?.throwIfAborted();
        await pauseBefore(tried, retries, error, request.operation, signal);
      }
    }
  }

  async function attemptWithin(
    ms: number,
    request: Outgoing,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ) {
    const limit = timeLimit(ms, request.operation, signal);
    try {
      return await once(request, limit, headers);
    } catch (thrown) {
      throw readError(thrown, limit, request.operation);
    } finally {
      limit.stop();
    }
  }

  /** Waits before the next attempt. @throws the error when there is no next one. */
  async function pauseBefore(
    tried: number,
    retries: number,
    error: unknown,
    operation: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const after = error instanceof ApiError ? error.retryAfter : undefined;
    if (tried >= retries || !isTransient(error) || (after ?? 0) > (options.maxRetryAfter ?? 60)) throw error;
    const ms = after === undefined ? backoffMs(tried, longestMs) : after * 1000;
    const reason = error instanceof ApiError ? error.code : error instanceof Error ? error.name : "";
    log.info(`${operation}: repeated in ${Math.round(ms)} ms, after ${reason}`);
    await doSleep(ms, signal);
  }

  async function open(
    request: Outgoing,
    limit: Limit,
    headers = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    try {
      const reply = await attempt(request, limit.signal, headers);
      if (!reply.ok) throw refusalIn(parse(await reply.text()), headOf(reply, request));
      return reply.body;
    } catch (thrown) {
      throw readError(thrown, limit, request.operation);
    }
  }

  async function events(
    request: Outgoing,
    { signal, headers }: StreamOptions = {},
  ): Promise<AsyncIterable<StreamEvent> | null> {
    const limit = timeLimit(silenceMs, request.operation, until(signal));
    try {
      const stream = await open(request, limit, headers);
      if (stream !== null) return eventsIn(stream, limit, request.operation);
    } catch (thrown) {
      limit.stop();
      throw thrown;
    }
    limit.stop();
    return null;
  }

  return { options, baseUrl, fetch: doFetch, sleep: doSleep, log, places, reopens: true, send, open, events };
}

/** The server sends a comment after 10 s of silence: after 30 s the connection counts as lost. */
const silenceMs = 30_000;

/** The events of one connection. */
async function* eventsIn(
  stream: ReadableStream<Uint8Array>,
  limit: Limit,
  operation: string,
): AsyncGenerator<StreamEvent> {
  try {
    for await (const { event, data } of readEvents(stream, () => limit.renew())) {
      const value: unknown = JSON.parse(data);
      if (event === "end") {
        if ((value as { readonly ok?: unknown }).ok === true) return;
        throw refusalIn(value, { status: 0, operation, requestId: undefined, retryAfter: undefined });
      }
      // The reader may take its time.
      limit.pause();
      yield { event, data: value };
      limit.renew();
    }
    throw new ConnectionError(`the stream was cut: ${operation}`);
  } catch (thrown) {
    throw readError(thrown, limit, operation);
  } finally {
    limit.stop();
  }
}

/** Errors of `fetch` are those of the connection; the reason of the limit is the error itself. */
export function readError(thrown: unknown, limit: Limit, operation: string): unknown {
  if (limit.signal.aborted) return limit.signal.reason;
  if (thrown instanceof ApiError || thrown instanceof ConnectionError) return thrown;
  // `fetch` and readers of bodies throw a TypeError when the connection fails; Node's has the reason as its
  // cause.
  if (!(thrown instanceof TypeError) && !(thrown instanceof DOMException)) return thrown;
  const { cause } = thrown;
  const reason = cause instanceof Error && cause.message !== "" ? cause.message : thrown.message;
  return new ConnectionError(`no connection to the server (${reason}): ${operation}`, { cause: thrown });
}

function headOf(reply: Response, { operation }: Outgoing) {
  const after = Number(reply.headers.get("retry-after") ?? Number.NaN);
  return {
    status: reply.status,
    operation,
    requestId: reply.headers.get("x-request-id") ?? undefined,
    retryAfter: Number.isFinite(after) && after >= 0 ? after : undefined,
  };
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const warningsIn = (body: JsonValue): readonly string[] => {
  const warnings =
    typeof body === "object" && body !== null && "warnings" in body ? body["warnings"] : undefined;
  return Array.isArray(warnings) ? warnings.map(String) : [];
};
