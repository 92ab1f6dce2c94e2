import type { IncomingHttpHeaders } from "node:http";

/** The client has it already (RFC 9110 13.1.2). */
export function isKnown(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers["if-none-match"];
  if (known === undefined) return false;
  return known.trim() === "*" || known.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

/** The parts that the client has are of these bytes (RFC 9110 13.1.5). @param sent the validators that go with them. */
export function isCurrent(headers: IncomingHttpHeaders, sent: readonly string[]): boolean {
  const had = headers["if-range"];
  return had === undefined || sent.includes(String(had));
}
