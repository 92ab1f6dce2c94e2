import type { IncomingMessage } from "node:http";

/**
 * All host names of a request, as browsers compare them: in an absolute target (RFC 9112 3.2.2),
 * `:authority`, and `Host`.
 */
export function hostNamesOf({
  url = "",
  headers,
}: Pick<IncomingMessage, "url" | "headers">): readonly string[] {
  const target = url.startsWith("/") ? undefined : /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return [target, headers[":authority"], headers.host].flatMap((name) =>
    name === undefined ? [] : hostName(String(name)),
  );
}

/** In lower case, without port and without trailing dots. */
const hostName = (authority: string): string =>
  authority
    .slice(authority.lastIndexOf("@") + 1)
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/\.+$/, "");
