import type { IncomingMessage } from "node:http";
import { Failure } from "../../../core/failure.ts";
import { hostNamesOf } from "../../../http/host-names.ts";

/** The names and origins of this installation. */
export interface OriginRule {
  /** The URLs at which callers reach it. */
  readonly urls: readonly string[];
  /** Origins whose pages may call (`CORS_ORIGINS`). */
  readonly corsOrigins: readonly string[];
}

/** A proxy on this machine names it so. */
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Creates the check of Host and Origin, which the protocol demands against DNS rebinding: a page of another
 * site whose name leads to this machine sends its own name. A request without Origin is not from a page.
 *
 * @returns a function that throws Failure `permission_denied`.
 */
export function createOriginCheck({ urls, corsOrigins }: OriginRule): (request: IncomingMessage) => void {
  const hosts = new Set([...loopback, ...urls.map((url) => new URL(url).hostname)]);
  return (request) => {
    if (!hostNamesOf(request).every((name) => hosts.has(name)))
      throw new Failure(
        "permission_denied",
        "Host: is not a name of this installation; BASE_URL names it, and a proxy must pass it on",
      );
    const { origin, host } = request.headers;
    if (
      origin === undefined ||
      corsOrigins.includes(origin) ||
      (URL.canParse(origin) && new URL(origin).host === host)
    )
      return;
    throw new Failure(
      "permission_denied",
      "Origin: pages of this origin may not call /mcp; CORS_ORIGINS allows origins",
    );
  };
}
