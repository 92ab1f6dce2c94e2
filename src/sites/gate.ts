import type { IncomingHttpHeaders } from "node:http";
import type { SiteVisits } from "../core/websites/visit.ts";
import { visitMs } from "../core/websites/visit.ts";
import type { Website } from "../core/websites/website.ts";
import { cookieIn } from "../http/session-cookie.ts";
import { type Answer, badTicket, notFound, redirect } from "./answer.ts";

/** What the gate of a team's website needs. */
export interface GateParts {
  readonly visits: SiteVisits;
  readonly siteUrl: (label: string) => string;
  readonly consentUrl: string;
}

/** Where a ticket is changed into a cookie. */
const ticketPath = "/.ticket";
/** What a visitor wanted to see, if it can stand in an address. */
const targetMax = 2_000;

/** Bound to its host by the browser itself where there is TLS, as the platform's own are (contract/decisions.md 35). */
const cookieName = (siteUrl: string): string => (siteUrl.startsWith("https:") ? "__Host-site" : "site");

/** Lets members of the team in; null for one of them, otherwise what is answered instead of the site. */
export async function gate(
  { visits, siteUrl, consentUrl }: GateParts,
  site: Website,
  target: string,
  headers: IncomingHttpHeaders,
): Promise<Answer | null> {
  const home = siteUrl(site.label);
  const url = new URL(`${home}${target}`);
  if (url.pathname === ticketPath) return changed(await visits.redeem(site, url.searchParams.get("ticket") ?? ""), url, home);
  // It would show what it has kept to whoever is let in no more.
  if (headers["service-worker"] !== undefined) return notFound;
  const cookie = cookieIn(headers.cookie ?? "", cookieName(home));
  if (cookie !== null && (await visits.admits(site, cookie))) return null;
  // Only somebody who looks at a page can be asked who they are.
  if ((headers["sec-fetch-mode"] ?? "navigate") !== "navigate") return notFound;
  const query = new URLSearchParams({ site: site.label, path: target.length > targetMax ? "/" : target });
  return redirect(302, `${consentUrl}/sites/enter?${query}`);
}

function changed(cookie: string | null, url: URL, home: string): Answer {
  if (cookie === null) return badTicket;
  const secure = home.startsWith("https:") ? "; Secure" : "";
  const set = `${cookieName(home)}=${cookie}; Path=/; HttpOnly; SameSite=Lax${secure}; Max-Age=${visitMs / 1000}`;
  return redirect(303, wayBack(home, url.searchParams.get("path") ?? "/"), { "Set-Cookie": set, "Referrer-Policy": "no-referrer" });
}

/** A place on the website itself: what leads elsewhere leads to its first page. */
export function wayBack(home: string, path: string): string {
  const there = path.startsWith("/") && URL.canParse(path, home) ? new URL(path, home) : null;
  return there?.origin === new URL(home).origin && there.pathname !== ticketPath ? `${home}${there.pathname}${there.search}` : `${home}/`;
}
