import type { FastifyRequest } from "fastify";

/** The client has it already (RFC 9110 13.1.2). */
export function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers["if-none-match"];
  if (known === undefined) return false;
  return known.trim() === "*" || known.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

/** The parts that the client has are of these bytes (RFC 9110 13.1.5). */
export function isCurrent({ headers }: FastifyRequest, sent: { readonly ETag: string; readonly "Last-Modified": string }): boolean {
  const had = headers["if-range"];
  return had === undefined || had === sent.ETag || had === sent["Last-Modified"];
}
