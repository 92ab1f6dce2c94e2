import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { anonymousBytes } from "../pipeline/operations.ts";
import { type Bound, tooLarge } from "./bounds/bound.ts";
import { incomingBody } from "./incoming-body.ts";
import { createPieces } from "./pieces.ts";

/** The bound where no operation has admitted the call. */
export const anonymousBodyBound: Bound = { maxBytes: anonymousBytes, name: "this address" };

/** Methods whose request bodies are ignored. */
const bodyless: ReadonlySet<string> = new Set(["GET", "HEAD"]);

interface Bounded {
  /** The largest body; by default that of an address without a credential. */
  readonly bound?: Bound;
  /** The only content type; by default any. */
  readonly type?: string;
  /** False for bodies that are read elsewhere. */
  readonly isRead?: (request: FastifyRequest) => boolean;
}

/**
 * Reads the bodies of a scope's requests as bytes, after its `onRequest` hooks, into
 * `request.body`. After a failure of a content type parser, Fastify would close the
 * connection, often before the client has received the answer.
 */
export function boundedBodies(
  app: FastifyInstance,
  { bound = anonymousBodyBound, type = "*", isRead = () => true }: Bounded = {},
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(type, (_request, _payload, done) => done(null));
  app.addHook("preValidation", async (request) => {
    if (request.is404 || bodyless.has(request.method) || !isRead(request)) return;
    request.body = await readBody(request.raw, bound);
  });
}

/**
 * Reads a request's body. @throws Failure `cancelled` for a body that breaks off, and the failures of
 * `encodeBody`.
 */
export async function readBody(request: IncomingMessage, bound: Bound): Promise<Uint8Array> {
  const body = await readBodyOrNull(request, bound);
  if (body === null) throw brokenOff();
  return body;
}

/**
 * Reads a request's body; null for a body that breaks off.
 *
 * @throws Failure `too_large` for a body longer than its bound (with an announced length, before its first
 * byte is read), and the failures of `IncomingBody`.
 */
export async function readBodyOrNull(request: IncomingMessage, bound: Bound): Promise<Uint8Array | null> {
  if (isComplete(request)) return readBuffered(request, bound);
  const body = incomingBody(request);
  if (body?.mayBeLarge) await body.spend();
  return collect(request, bound);
}

/**
 * Whether the complete body is in the request's buffer. Over HTTP/1.1 a small body usually arrives with the
 * headers.
 */
function isComplete({
  complete,
  destroyed,
  headers,
  httpVersionMajor,
  readableEnded,
  readableLength,
}: IncomingMessage): boolean {
  if (httpVersionMajor !== 1 || destroyed || readableEnded) return false;
  return complete || (readableLength > 0 && Number(headers["content-length"]) === readableLength);
}

/** Counts the body twice: as bytes, and as the text and message made of them. */
function readBuffered(request: IncomingMessage, bound: Bound): Uint8Array {
  const body = incomingBody(request);
  try {
    if (request.readableLength > bound.maxBytes) throw tooLarge(bound);
    body?.take(2 * request.readableLength);
  } catch (thrown) {
    body?.abandon();
    // Drop the unread rest.
    request.resume();
    throw thrown;
  }
  const bytes: Buffer | null = request.read();
  // The end of the body may still be missing: read it.
  request.resume();
  return bytes ?? new Uint8Array();
}

function collect(request: IncomingMessage, bound: Bound): Promise<Uint8Array | null> {
  const body = incomingBody(request);
  const announced = Number(request.headers["content-length"] ?? 0);
  const pieces = createPieces(announced);
  return new Promise((resolve, reject) => {
    function fail(thrown: unknown): void {
      request.off("data", take);
      pieces.discard();
      body?.abandon();
      reject(thrown);
    }
    /**
     * Counts the body again, for the text and message made of it. HTTP/2 ends a cut body like a complete one.
     */
    function end(): void {
      try {
        if (!request.aborted) body?.take(pieces.length());
        resolve(request.aborted ? null : pieces.joined());
      } catch (thrown) {
        fail(thrown);
      }
    }
    function take(chunk: Buffer): void {
      try {
        if (pieces.length() + chunk.length > bound.maxBytes) throw tooLarge(bound);
        body?.take(chunk.length);
        pieces.add(chunk);
      } catch (thrown) {
        fail(thrown);
      }
    }
    try {
      if (announced > bound.maxBytes) throw tooLarge(bound);
      body?.begin(fail);
    } catch (thrown) {
      fail(thrown);
      return;
    }
    if (request.destroyed) resolve(null);
    request.on("data", take);
    request.on("end", end);
    request.on("error", () => resolve(null)).on("close", () => resolve(null));
  });
}

/**
 * Reads a request's body in chunks. Its bytes count as in `encodeBody`.
 *
 * @throws Failure `cancelled` for a body that breaks off, and the failures of `IncomingBody`.
 */
export async function* readChunks(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  const body = incomingBody(request);
  const events = bodyEvents(request);
  try {
    body?.begin(events.fail);
    while (!request.readableEnded && !request.destroyed) {
      const chunk: Buffer | null = request.read();
      if (chunk === null) {
        await events.next();
      } else {
        body?.take(chunk.length);
        yield chunk;
      }
    }
    // HTTP/2 ends a cut body like a complete one.
    if (request.aborted || !request.readableEnded) throw brokenOff();
  } catch (thrown) {
    body?.abandon();
    throw thrown instanceof Failure ? thrown : brokenOff(thrown);
  } finally {
    events.stop();
    // Drop the unread rest.
    if (!request.readableEnded) request.resume();
  }
}

const brokenOff = (cause?: unknown): Failure =>
  new Failure("cancelled", "the connection was closed", { cause });

/** Waits for more data of a request, or its end. */
function bodyEvents(request: IncomingMessage) {
  let waiting = Promise.withResolvers<void>();
  const wake = (): void => waiting.resolve();
  const fail = (thrown: unknown): void => {
    waiting.reject(thrown);
    // There may be no reader waiting at this moment.
    waiting.promise.catch(() => undefined);
  };
  const events = ["readable", "end", "close"] as const;
  for (const event of events) request.on(event, wake);
  request.on("error", fail);
  return {
    fail,
    async next(): Promise<void> {
      await waiting.promise;
      waiting = Promise.withResolvers();
    },
    stop(): void {
      for (const event of events) request.off(event, wake);
      request.off("error", fail);
    },
  };
}
