import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { anonymousBytes, type Bound, tooLarge } from "./bounds/bound.ts";
import { incomingBody } from "./incoming-body.ts";
import { piecesOf } from "./pieces.ts";

/** The bound where no operation has let the call in. */
const anonymous: Bound = { maxBytes: anonymousBytes, of: "this address" };

/** Methods whose request bodies are ignored. */
const bodyless: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Which bodies a scope reads. */
interface Bounded {
  /** The one content type; by default any. */
  readonly type?: string;
  /** False for bodies that are read elsewhere. */
  readonly isRead?: (request: FastifyRequest) => boolean;
}

/**
 * Reads the bodies of a scope's requests as bytes, after its hooks have let them in: the
 * handler finds a Buffer in `request.body`. (A parser that fails would have Fastify close
 * the connection, often before the client has seen the answer.)
 *
 * @param boundOf the bound of a request whose head was read; undefined where no operation has let it in.
 */
export function boundedBodies(
  app: FastifyInstance,
  boundOf: (request: FastifyRequest) => Bound | undefined,
  { type = "*", isRead = () => true }: Bounded = {},
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(type, (_request, _payload, done) => done(null));
  app.addHook("preValidation", async (request) => {
    if (request.is404 || bodyless.has(request.method) || !isRead(request)) return;
    const body = await bodyOf(request.raw, boundOf(request) ?? anonymous);
    if (body === null) throw brokenOff();
    request.body = body;
  });
}

/**
 * A request's body; null for one that breaks off.
 *
 * @throws Failure `too_large` for one that is longer than its bound (when it announces so, before a byte of it is read),
 * and what `IncomingBody` throws.
 */
export async function bodyOf(request: IncomingMessage, bound: Bound): Promise<Uint8Array | null> {
  return isHere(request) ? takenAtOnce(request, bound) : awaited(request, bound);
}

/** Whether the whole body is in the request's buffer. Over HTTP/1.1 a small body usually arrives with the headers. */
function isHere({ complete, destroyed, headers, httpVersionMajor, readableEnded, readableLength }: IncomingMessage): boolean {
  if (httpVersionMajor !== 1 || destroyed || readableEnded) return false;
  return complete || (readableLength > 0 && Number(headers["content-length"]) === readableLength);
}

/** Counts it twice: as bytes, and as the text and the message that are made of them. */
function takenAtOnce(request: IncomingMessage, bound: Bound): Uint8Array {
  const body = incomingBody(request);
  try {
    if (request.readableLength > bound.maxBytes) throw tooLarge(bound);
    body?.take(2 * request.readableLength);
  } catch (thrown) {
    body?.abandon();
    // What is not read is dropped.
    request.resume();
    throw thrown;
  }
  const bytes: Buffer | null = request.read();
  // The end of the body may still be missing: it is read here.
  request.resume();
  return bytes ?? new Uint8Array();
}

function awaited(request: IncomingMessage, bound: Bound): Promise<Uint8Array | null> {
  const body = incomingBody(request);
  const pieces = piecesOf();
  return new Promise((resolve, reject) => {
    function fail(thrown: unknown): void {
      request.off("data", take);
      pieces.discard();
      body?.abandon();
      reject(thrown);
    }
    /** Counts it once more, for the text and the message that are made of it. HTTP/2 ends a body that was cut like a complete one. */
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
      if (Number(request.headers["content-length"]) > bound.maxBytes) throw tooLarge(bound);
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
 * A request's body as it comes, counted as `bodyOf` counts it.
 *
 * @throws Failure `cancelled` for one that breaks off, and what `IncomingBody` throws.
 */
export async function* chunksOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  const body = incomingBody(request);
  const events = wakener(request);
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
    // HTTP/2 ends a body that was cut like a complete one.
    if (request.aborted || !request.readableEnded) throw brokenOff();
  } catch (thrown) {
    body?.abandon();
    throw thrown instanceof Failure ? thrown : brokenOff(thrown);
  } finally {
    events.stop();
    // What is not read is dropped.
    if (!request.readableEnded) request.resume();
  }
}

const brokenOff = (cause?: unknown): Failure => new Failure("cancelled", "the connection was closed", { cause });

/** Waits for a request to have more to read, or its end. */
function wakener(request: IncomingMessage) {
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
