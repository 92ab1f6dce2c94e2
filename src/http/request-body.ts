import type { IncomingMessage } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { connectErrorOf } from "./failure.ts";
import { incomingBody } from "./incoming-body.ts";

/**
 * A request's body; null for one that breaks off.
 *
 * @throws ConnectError, in Connect's words, for one that is too long.
 * @throws Failure `late`, `limited` or `unavailable` (src/http/incoming-body.ts).
 */
export const bodyOf = (request: IncomingMessage, bodyLimit: number): Promise<Uint8Array | null> =>
  wholeBody(
    request,
    bodyLimit,
    () => new ConnectError(`message size is larger than configured readMaxBytes ${bodyLimit}`, Code.ResourceExhausted),
  );

function wholeBody(request: IncomingMessage, bodyLimit: number, tooLarge: () => Error): Promise<Uint8Array | null> {
  const body = incomingBody(request);
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    function fail(thrown: unknown): void {
      chunks.length = 0;
      request.off("data", take);
      body?.abandon();
      reject(thrown);
    }
    function take(chunk: Buffer): void {
      try {
        length += chunk.length;
        if (length > bodyLimit) throw tooLarge();
        body?.take(chunk.length);
        chunks.push(chunk);
      } catch (thrown) {
        fail(thrown);
      }
    }
    if (Number(request.headers["content-length"]) > bodyLimit) return fail(tooLarge());
    try {
      body?.begin(fail);
    } catch (thrown) {
      return fail(thrown);
    }
    if (request.destroyed) resolve(null);
    request.on("data", take);
    // HTTP/2 ends what was cut as if it were whole.
    request.once("end", () => resolve(request.aborted ? null : Buffer.concat(chunks)));
    request.once("error", () => resolve(null)).once("close", () => resolve(null));
  });
}

/**
 * A request's body as it comes, for Connect.
 *
 * @throws ConnectError for what `bodyOf` throws as a Failure, and for a body that breaks off.
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
    // HTTP/2 ends what was cut as if it were whole.
    if (request.aborted || !request.readableEnded) throw brokenOff();
  } catch (thrown) {
    body?.abandon();
    throw connectErrorOf(thrown instanceof Failure ? thrown : brokenOff(thrown));
  } finally {
    events.stop();
    // What Connect does not want is passed over.
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
    // Nobody may be waiting just now.
    waiting.promise.catch(() => undefined);
  };
  const events = ["readable", "end", "close"] as const;
  for (const event of events) request.on(event, wake);
  request.on("error", fail);
  return {
    fail,
    async next() {
      await waiting.promise;
      waiting = Promise.withResolvers();
    },
    stop() {
      for (const event of events) request.off(event, wake);
      request.off("error", fail);
    },
  };
}

/** Methods whose requests have no body that means anything. */
const bodyless: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Which bodies a scope reads. */
interface Buffered {
  /** The one content type; by default any. */
  readonly type?: string;
  /** False for bodies that are read elsewhere. */
  readonly isRead?: (request: FastifyRequest) => boolean;
}

/**
 * Reads the bodies of a scope's requests, after its hooks have let them in: the handler
 * finds a Buffer in `request.body`.
 *
 * @param bodyLimit bytes; one more is refused with Failure `too_large`.
 */
export function bufferBodies(app: FastifyInstance, bodyLimit: number, { type = "*", isRead = () => true }: Buffered = {}): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(type, (_request, _payload, done) => done(null));
  app.addHook("preValidation", async (request) => {
    if (request.is404 || bodyless.has(request.method) || !isRead(request)) return;
    const bytes = await wholeBody(request.raw, bodyLimit, () => new Failure("too_large", "the body is too large"));
    if (bytes === null) throw brokenOff();
    request.body = bytes;
  });
}
