import type { IncomingMessage, ServerResponse } from "node:http";
import { isLoopback } from "../../config/sign-in.ts";

/** Headers that proxies add. Behind a proxy, a caller may be on any machine. */
const isForwarded = (name: string): boolean =>
  /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/.test(name);

/** Whether a host names this machine; names below `localhost` are websites. */
const isOwn = (host: string): boolean => isLoopback(host) || host.endsWith(".localhost");

/** The host of `Host` or an origin; null if it has none. */
function hostOf(text: string): string | null {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  return url === null || url.hostname === "" ? null : url.hostname.toLowerCase();
}

/**
 * Why test mode refuses a request; null when it does not. Pages of other sites reach this machine by a user's
 * browser: their requests have their `Origin`, or, after a DNS answer that names this machine, their `Host`.
 */
export function refusalOf({ headers }: Pick<IncomingMessage, "headers">): string | null {
  const host = headers.host ?? headers[":authority"];
  if (typeof host === "string" && host !== "" && !isOwn(hostOf(host) ?? ""))
    return "Host: must name this machine";
  const { origin } = headers;
  // Forms of the platform's pages, which send no referrer, have the origin `null`. No page can set the other
  // header.
  const isOwnForm = origin === "null" && headers["sec-fetch-site"] === "same-origin";
  if (origin !== undefined && !isOwnForm && !isOwn(hostOf(origin) ?? ""))
    return "Origin: must be of this machine";
  const forwarded = Object.keys(headers).find(isForwarded);
  return forwarded === undefined ? null : `${forwarded}: test mode takes no request through a proxy`;
}

export function refuse(response: ServerResponse, message: string): void {
  response.statusCode = 403;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.end(JSON.stringify({ ok: false, error: { code: "permission_denied", message } }));
}
