import type { IncomingMessage } from "node:http";
import { isLabel } from "../core/websites/website.ts";

/** A host below the domain of websites. */
export interface SiteHost {
  /** Null where no website can be. */
  readonly label: string | null;
}

/** Tells a website's host from ours; null for ours. */
export type ReadSiteHost = (request: IncomingMessage) => SiteHost | null;

/**
 * Every name that a request gives for its host counts: that of an absolute target (RFC 9112 3.2.2), `:authority`, and
 * `Host`. One that is a website's is enough to keep it from the API, and two that differ name no website. What proxies
 * say in headers of their own counts nothing.
 *
 * @param ours URLs of our own, which are ours wherever they are.
 */
export function siteHosts(sitesDomain: string, ours: readonly string[]): ReadSiteHost {
  const end = `.${sitesDomain}`;
  const own = new Set(ours.map((url) => new URL(url).hostname));
  // This machine's own name is ours; what else is the domain's belongs to websites.
  if (sitesDomain === "localhost") own.add(sitesDomain);
  const labelIn = (name: string): string | undefined => {
    if (own.has(name)) return undefined;
    return name === sitesDomain ? "" : name.endsWith(end) ? name.slice(0, -end.length) : undefined;
  };
  return (request) => {
    const labels = namesOf(request).map(labelIn);
    const [label] = labels.filter((one) => one !== undefined);
    if (label === undefined) return null;
    return { label: isLabel(label) && labels.every((one) => one === label) ? label : null };
  };
}

/** Host names as browsers compare them: lower case, without port, without the dot of the root, however many of it. */
function namesOf({ url = "", headers }: IncomingMessage): readonly string[] {
  const target = url.startsWith("/") ? undefined : /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return [target, headers[":authority"], headers.host].flatMap((name) => (name === undefined ? [] : nameOf(String(name))));
}

const nameOf = (authority: string): string =>
  authority
    .slice(authority.lastIndexOf("@") + 1)
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/\.+$/, "");

/** The path and query that are asked for, whatever form the target has. */
export const pathOf = (url = ""): string => (url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "") || "/");
