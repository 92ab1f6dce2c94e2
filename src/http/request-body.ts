import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { anonymousBytes, type Bound, tooLarge } from "./bounds/bound.ts";

/** The bound where no operation has let the call in. */
const anonymous: Bound = { maxBytes: anonymousBytes, of: "this address" };

/**
 * Lets a scope read bodies of any type, as bytes.
 *
 * @param boundOf the bound of a request whose head was read; undefined where no operation has let it in.
 */
export function boundedBodies(app: FastifyInstance, boundOf: (request: FastifyRequest) => Bound | undefined): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: IncomingMessage) => {
    const body = await bodyOf(payload, boundOf(request) ?? anonymous);
    if (body === null) throw new Failure("cancelled", "the connection was closed");
    return body;
  });
}

/**
 * A request's body; null for one that breaks off.
 *
 * @throws Failure `too_large` for one that is longer than its bound; when it announces so, before a byte of it is read.
 */
export function bodyOf(request: IncomingMessage, bound: Bound): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"]) > bound.maxBytes) {
      reject(tooLarge(bound));
      return;
    }
    const body = piecesOf();
    function take(chunk: Buffer): void {
      if (body.length() + chunk.length <= bound.maxBytes) {
        body.add(chunk);
        return;
      }
      request.off("data", take);
      reject(tooLarge(bound));
    }
    if (request.destroyed) resolve(null);
    request.on("data", take);
    request.once("end", () => resolve(body.joined()));
    request.once("error", () => resolve(null)).once("close", () => resolve(null));
  });
}

/** Bytes that come in pieces. */
export interface Pieces {
  add(piece: Uint8Array): void;
  length(): number;
  /** All that was added, as one copy. */
  joined(): Buffer;
}

const smallPiece = 4096;
const blockSize = 65_536;

/** Keeps large pieces as they are, and copies small ones into blocks: a piece of one byte would take a hundred otherwise. */
export function piecesOf(): Pieces {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let block = new Uint8Array();
  let used = 0;
  return {
    add(piece) {
      if (piece.length === 0) return;
      length += piece.length;
      if (pieces.length === 0 || piece.length >= smallPiece) {
        block = new Uint8Array();
        pieces.push(piece);
        return;
      }
      if (used + piece.length > block.length) {
        block = new Uint8Array(blockSize);
        used = 0;
        pieces.push(block);
      }
      block.set(piece, used);
      used += piece.length;
      pieces[pieces.length - 1] = block.subarray(0, used);
    },
    length: () => length,
    joined: () => Buffer.concat(pieces, length),
  };
}
