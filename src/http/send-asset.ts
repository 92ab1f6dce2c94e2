import { existsSync, readFileSync } from "node:fs";
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * One file of a built folder, with its compressed copies next to it where the build wrote them (`.br`,
 * `.gz`).
 */
export interface Asset {
  readonly type: string;
  readonly path: string;
}

const encodings = [
  { name: "br", extension: ".br" },
  { name: "gzip", extension: ".gz" },
];

export const isCompressedCopy = (name: string): boolean =>
  encodings.some(({ extension }) => name.endsWith(extension));

/**
 * Sends a file in the first encoding that the browser accepts.
 *
 * @param etag of a file whose content can change under its name; without it the name has the digest of the
 *   content, and clients keep the file for a year.
 */
export function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  { path, type }: Asset,
  etag?: string,
): FastifyReply {
  const accepted = String(request.headers["accept-encoding"] ?? "");
  const accepts = (name: string) => new RegExp(`\\b${name}\\b(?!;\\s*q=0\\b)`).test(accepted);
  const encoding = encodings.find(({ name, extension }) => accepts(name) && existsSync(path + extension));
  reply
    .header("Cache-Control", etag === undefined ? "public, max-age=31536000, immutable" : "no-cache")
    .header("Vary", "Accept-Encoding")
    .type(type);
  if (etag !== undefined) reply.header("ETag", etag);
  if (etag !== undefined && request.headers["if-none-match"] === etag) return reply.code(304).send();
  if (encoding) reply.header("Content-Encoding", encoding.name);
  return reply.send(readFileSync(path + (encoding?.extension ?? "")));
}
