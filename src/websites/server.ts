import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Failure } from "../core/failure.ts";
import type { Log } from "../core/log.ts";
import type { Tx } from "../core/store.ts";
import { type SiteVisits, visitMs } from "../core/websites/visit.ts";
import { effectiveSiteVisibility, isLabel, type Website } from "../core/websites/website.ts";
import { readCookie } from "../http/request.ts";
import { type Answer, badTicket, failed, notFound, redirect, send, wrongMethod } from "./answer.ts";
import { type PageParts, pageAnswer } from "./page.ts";

/** The inputs for the access check of a team's website. */
interface GateParts {
  readonly visits: SiteVisits;
  readonly siteUrl: (label: string) => string;
  readonly consentUrl: string;
}

/** The path that replaces a ticket by a cookie. */
const ticketPath = "/.ticket";
/** The maximum length of a visitor's requested path in a redirect address. */
const targetMax = 2_000;

/** With TLS, the browser binds the cookie to its host, like the platform's own cookies (spec/decisions.md 35). */
const cookieName = (siteUrl: string): string => (siteUrl.startsWith("https:") ? "__Host-site" : "site");

/** Checks that the visitor is a member of the team. Returns null for a member, otherwise the response to send instead of the page. */
async function checkAccess(
  { visits, siteUrl, consentUrl }: GateParts,
  site: Website,
  target: string,
  headers: IncomingHttpHeaders,
): Promise<Answer | null> {
  const home = siteUrl(site.label);
  const url = new URL(`${home}${target}`);
  if (url.pathname === ticketPath) return redeemedAnswer(await visits.redeem(site, url.searchParams.get("ticket") ?? ""), url, home);
  // A service worker would show cached pages to visitors who have lost access.
  if (headers["service-worker"] !== undefined) return notFound;
  const cookie = readCookie(headers.cookie ?? "", cookieName(home));
  if (cookie !== null && (await visits.admits(site, cookie))) return null;
  // Only a navigation can be redirected to the sign-in.
  if ((headers["sec-fetch-mode"] ?? "navigate") !== "navigate") return notFound;
  const query = new URLSearchParams({ site: site.label, path: target.length > targetMax ? "/" : target });
  return redirect(302, `${consentUrl}/sites/enter?${query}`);
}

function redeemedAnswer(cookie: string | null, url: URL, home: string): Answer {
  if (cookie === null) return badTicket;
  const secure = home.startsWith("https:") ? "; Secure" : "";
  const set = `${cookieName(home)}=${cookie}; Path=/; HttpOnly; SameSite=Lax${secure}; Max-Age=${visitMs / 1000}`;
  return redirect(303, returnUrl(home, url.searchParams.get("path") ?? "/"), { "Set-Cookie": set, "Referrer-Policy": "no-referrer" });
}

/** A URL on the website itself; the first page for any other address. */
export function returnUrl(home: string, path: string): string {
  const target = path.startsWith("/") && URL.canParse(path, home) ? new URL(path, home) : null;
  return target?.origin === new URL(home).origin && target.pathname !== ticketPath
    ? `${home}${target.pathname}${target.search}`
    : `${home}/`;
}

/** A host below the domain of websites. */
export interface SiteHost {
  /** Null if no website can have this host. */
  readonly label: string | null;
}

/** Reads the website host of a request; null for the platform's own hosts. */
type ReadSiteHost = (request: IncomingMessage) => SiteHost | null;

/**
 * Checks every host name in a request: in an absolute target (RFC 9112 3.2.2), `:authority`, and `Host`. A single website
 * host keeps the request from the API, and different names select no website. Headers of proxies are ignored.
 *
 * @param ours the platform's own URLs, which never belong to websites, even below their domain.
 */
export function siteHostReader(sitesDomain: string, ours: readonly string[]): ReadSiteHost {
  const end = `.${sitesDomain}`;
  const ownHosts = new Set(ours.map((url) => new URL(url).hostname));
  // `localhost` itself belongs to the platform; names below it belong to websites.
  if (sitesDomain === "localhost") ownHosts.add(sitesDomain);
  const labelIn = (name: string): string | undefined => {
    if (ownHosts.has(name)) return undefined;
    return name === sitesDomain ? "" : name.endsWith(end) ? name.slice(0, -end.length) : undefined;
  };
  return (request) => {
    const labels = namesOf(request).map(labelIn);
    const [label] = labels.filter((one) => one !== undefined);
    if (label === undefined) return null;
    return { label: isLabel(label) && labels.every((one) => one === label) ? label : null };
  };
}

/** Host names as browsers compare them: in lower case, without port and without trailing dots. */
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

/** The requested path and query, for any form of the target. */
const pathOf = (url = ""): string => (url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "") || "/");

/** The inputs for serving websites. */
export interface SiteParts extends GateParts, PageParts {
  readonly store: Pick<Tx, "websites" | "checkpoints">;
  readonly hosts: ReadSiteHost;
  readonly log: Log;
}

/** Caches must revalidate, because a site may be published again, or for fewer people, at any time. */
const cacheControls = { public: "public, max-age=0, must-revalidate", team: "private, no-store" } as const;

/** Serves the websites that agents built, each on a separate origin, and answers all requests to their hosts (docs/guides/websites.md). */
export function createSiteServer(parts: SiteParts) {
  async function answerFor(label: string | null, { method = "", url, headers }: IncomingMessage): Promise<Answer> {
    if (method !== "GET" && method !== "HEAD") return wrongMethod;
    const site = label === null ? null : await parts.store.websites.byLabel(label);
    const visibility = site && effectiveSiteVisibility(site);
    if (!site || site.liveId === null || visibility === "private" || visibility === null) return notFound;
    const target = pathOf(url);
    if (!target.startsWith("/")) return notFound;
    const refusal = visibility === "team" ? await checkAccess(parts, site, target, headers) : null;
    return refusal ?? pageAnswer(parts, { checkpointId: site.liveId, method, target, headers, caching: cacheControls[visibility] });
  }

  async function serve(label: string | null, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await answerFor(label, request).catch((thrown: unknown) => {
      // The bytes were deleted between two reads. The next request finds the current files.
      if (thrown instanceof Failure && thrown.reason === "not_found") return notFound;
      parts.log("error", "a page of a website was not served", { cause: thrown });
      return failed;
    });
    await send(response, answer, request.method === "HEAD");
  }

  return {
    answer(request: IncomingMessage, response: ServerResponse): boolean {
      const host = parts.hosts(request);
      if (host === null) return false;
      serve(host.label, request, response).catch(() => response.destroy());
      return true;
    },
  };
}
