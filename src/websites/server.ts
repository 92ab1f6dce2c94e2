import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Failure } from "../core/failure.ts";
import type { Log } from "../core/log.ts";
import type { Tx } from "../core/store.ts";
import { type SiteAudience, type SiteVisits, visitMs } from "../core/websites/visit.ts";
import { effectiveSiteVisibility, isLabel, isOffline, type Website } from "../core/websites/website.ts";
import { hostNamesOf } from "../http/host-names.ts";
import { readCookie } from "../http/request.ts";
import type { SiteServer } from "../http/server.ts";
import { type Answer, badTicket, failed, notFound, redirect, send, wrongMethod } from "./answer.ts";
import type { SiteOfDomain } from "./custom-domains.ts";
import { type PageParts, pageAnswer } from "./page.ts";

/** The inputs for the access check of a website that is not public. */
interface GateParts {
  readonly visits: SiteVisits;
  readonly siteUrl: (label: string) => string;
  readonly consentUrl: string;
}

interface Visit {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** The path that replaces a ticket by a cookie. */
const ticketPath = "/.ticket";
/** The maximum length of a visitor's requested path in a redirect address. */
const targetMax = 2_000;

/**
 * With TLS, the browser binds the cookie to its host, like the platform's own cookies (spec/decisions.md 35).
 */
const cookieName = (siteUrl: string): string => (siteUrl.startsWith("https:") ? "__Host-site" : "site");

/**
 * Checks that the visitor may see the site. Returns null if so, otherwise the response to send instead of the
 * page.
 */
async function checkAccess(
  { visits, siteUrl, consentUrl }: GateParts,
  site: Website,
  audience: SiteAudience,
  { target, headers }: Visit,
): Promise<Answer | null> {
  const home = siteUrl(site.label);
  const url = new URL(`${home}${target}`);
  if (url.pathname === ticketPath)
    return redeemedAnswer(await visits.redeem(site, url.searchParams.get("ticket") ?? ""), url, home);
  // A service worker would show cached pages to visitors who have lost access.
  if (headers["service-worker"] !== undefined) return notFound;
  const cookie = readCookie(headers.cookie ?? "", cookieName(home));
  if (cookie !== null && (await visits.admits(site, audience, cookie))) return null;
  // Only a navigation can be redirected to the sign-in.
  if ((headers["sec-fetch-mode"] ?? "navigate") !== "navigate") return notFound;
  const query = new URLSearchParams({ site: site.label, path: target.length > targetMax ? "/" : target });
  return redirect(302, `${consentUrl}/sites/enter?${query}`);
}

function redeemedAnswer(cookie: string | null, url: URL, home: string): Answer {
  if (cookie === null) return badTicket;
  const secure = home.startsWith("https:") ? "; Secure" : "";
  const set = `${cookieName(home)}=${cookie}; Path=/; HttpOnly; SameSite=Lax${secure}; Max-Age=${visitMs / 1000}`;
  return redirect(303, returnUrl(home, url.searchParams.get("path") ?? "/"), {
    "Set-Cookie": set,
    "Referrer-Policy": "no-referrer",
  });
}

/** A URL on the website itself; the first page for any other address. */
export function returnUrl(home: string, path: string): string {
  const target = path.startsWith("/") && URL.canParse(path, home) ? new URL(path, home) : null;
  return target?.origin === new URL(home).origin && target.pathname !== ticketPath
    ? `${home}${target.pathname}${target.search}`
    : `${home}/`;
}

/** The host of a request that may belong to a website. */
export type SiteHost =
  /** Below the domain of websites. Null if no website can have this host. */
  | { readonly label: string | null }
  /** Names that may be custom domains, each once. `isOnly` if the request has no other name. */
  | { readonly domains: readonly string[]; readonly isOnly: boolean };

/** Reads the website host of a request; null for hosts that cannot belong to a website. */
type ReadSiteHost = (request: IncomingMessage) => SiteHost | null;

/** A name that may be a custom domain: at least two labels, and no address. */
const customDomain = /^(?=.{4,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*\.(?!\d+$)[a-z0-9-]+$/;

/**
 * Checks every host name in a request: in an absolute target (RFC 9112 3.2.2), `:authority`, and `Host`. A
 * single website host keeps the request from the API, and different names select no website. Headers of
 * proxies are ignored.
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
    const names = hostNamesOf(request);
    const labels = names.map(labelIn);
    const [label] = labels.filter((one) => one !== undefined);
    if (label !== undefined)
      return { label: isLabel(label) && labels.every((one) => one === label) ? label : null };
    const distinct = [...new Set(names)];
    const domains = distinct.filter((name) => !ownHosts.has(name) && customDomain.test(name));
    return domains.length === 0 ? null : { domains, isOnly: distinct.length === 1 };
  };
}

/** The requested path and query, for any form of the target. */
const pathOf = (url = ""): string =>
  url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "") || "/";

export interface SiteParts extends GateParts, PageParts {
  readonly store: Pick<Tx, "websites" | "checkpoints">;
  readonly hosts: ReadSiteHost;
  readonly siteOfDomain: SiteOfDomain;
  readonly log: Log;
}

/** Caches must revalidate, because a site may be published again, or for fewer people, at any time. */
const cacheControls = {
  public: "public, max-age=0, must-revalidate",
  team: "private, no-store",
  private: "private, no-store",
} as const;

/**
 * Serves the websites that agents built, each on a separate origin, and answers all requests to their hosts
 * (docs/guides/websites.md).
 */
export function createSiteServer(parts: SiteParts) {
  const { store, hosts, siteOfDomain, siteUrl, log } = parts;

  async function answerFor(site: Website, visit: Visit, isCustom: boolean): Promise<Answer> {
    const visibility = effectiveSiteVisibility(site);
    if (visibility === "public") return page(site, visit, cacheControls.public);
    // Tickets and cookies stay on the platform's own domain: a later owner of a custom domain never gets one
    // (spec/decisions.md 73).
    if (isCustom) return redirect(302, `${siteUrl(site.label)}${visit.target}`);
    return (
      (await checkAccess(parts, site, visibility, visit)) ?? page(site, visit, cacheControls[visibility])
    );
  }

  const page = (site: Website, visit: Visit, caching: string): Promise<Answer> =>
    pageAnswer(parts, { ...visit, checkpointId: site.liveId ?? "", caching });

  async function answer(
    find: () => Promise<Website | null>,
    isCustom: boolean,
    request: IncomingMessage,
  ): Promise<Answer> {
    const { method = "", url, headers } = request;
    if (method !== "GET" && method !== "HEAD") return wrongMethod;
    const target = pathOf(url);
    const site = await find();
    if (!site || isOffline(site) || !target.startsWith("/")) return notFound;
    return answerFor(site, { method, target, headers }, isCustom);
  }

  async function serve(
    response: ServerResponse,
    request: IncomingMessage,
    answered: Promise<Answer>,
  ): Promise<void> {
    const sent = await answered.catch((thrown: unknown) => {
      // The bytes were deleted between two reads. The next request finds the current files.
      if (thrown instanceof Failure && thrown.reason === "not_found") return notFound;
      log("error", "a page of a website was not served", { cause: thrown });
      return failed;
    });
    await send(response, sent, request.method === "HEAD");
  }

  /**
   * The response of a custom domain; null if no name of the request is one. Different names select no
   * website.
   */
  async function customAnswer(
    { domains, isOnly }: Extract<SiteHost, { domains: unknown }>,
    request: IncomingMessage,
  ): Promise<Answer | null> {
    const [id] = (await Promise.all(domains.map(siteOfDomain))).filter((one) => one !== null);
    if (id === undefined) return null;
    return isOnly ? answer(() => store.websites.byId(id), true, request) : notFound;
  }

  async function serveCustom(
    host: Parameters<typeof customAnswer>[0],
    ...[request, response, other]: Parameters<SiteServer["answer"]>
  ) {
    const pending = customAnswer(host, request);
    const isOther = await pending.then(
      (found) => found === null,
      () => false,
    );
    if (isOther) other();
    else
      await serve(
        response,
        request,
        pending.then((found) => found ?? notFound),
      );
  }

  function serveHost(
    host: SiteHost,
    ...[request, response, other]: Parameters<SiteServer["answer"]>
  ): Promise<void> {
    if ("domains" in host) return serveCustom(host, request, response, other);
    const { label } = host;
    return serve(
      response,
      request,
      answer(async () => (label === null ? null : store.websites.byLabel(label)), false, request),
    );
  }

  return {
    answer(request: IncomingMessage, response: ServerResponse, other: () => void): void {
      const host = hosts(request);
      if (host === null) other();
      else serveHost(host, request, response, other).catch(() => response.destroy());
    },
  };
}
