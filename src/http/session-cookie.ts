import type { IncomingHttpHeaders } from "node:http";

/** The cookie's name: bound to its host by the browser itself where there is TLS (contract/decisions.md 35). */
export const sessionCookieName = (consentUrl: string): string => (consentUrl.startsWith("https:") ? "__Host-session" : "session");

/** Reads the session cookie of a request to the Connect wire; null where it does not count. */
export type ReadSessionCookie = (method: string | undefined, headers: IncomingHttpHeaders) => string | null;

const connectTypes = /^application\/(json|proto)\s*(;|$)/i;

/**
 * A session counts on the Connect wire only, by POST with a body of Connect's own
 * types, and only when the browser says that a page of our own sent it
 * (contract/decisions.md 35): so no other site's page can use it.
 */
export function sessionCookieReader(consentUrl: string): ReadSessionCookie {
  const { origin } = new URL(consentUrl);
  const name = sessionCookieName(consentUrl);
  return (method, headers) => {
    const ours = method === "POST" && headers.origin === origin && connectTypes.test(headers["content-type"] ?? "");
    return ours ? cookieIn(headers.cookie ?? "", name) : null;
  };
}

/** A cookie's text (RFC 6265 5.4); null where there is none, or more than one of the name. */
export function cookieIn(header: string, name: string): string | null {
  const pairs = header.split(";").map((pair) => pair.trim());
  const found = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return found.length === 1 ? (found[0]?.slice(name.length + 1) ?? null) : null;
}
