import type { Person } from "../support/service.ts";
import type { SiteRig, VisitResponse } from "./site.ts";

/** Opens the platform's page for visitors of a website in a person's browser; null: without a session. */
export async function enter(
  rig: Pick<SiteRig, "visit">,
  person: Person | null,
  location: string,
): Promise<VisitResponse> {
  const { pathname, search } = new URL(location);
  const session = await person?.session();
  return rig.visit(
    "platform.test",
    pathname + search,
    session ? { headers: { cookie: session.headers.cookie } } : {},
  );
}

/** The address with the ticket that the page refreshes to. */
export const ticketIn = ({ headers }: VisitResponse): URL =>
  new URL(String(headers["refresh"]).replace("0; url=", ""));

/** The cookie that a response sets, as a browser sends it. */
export const cookieIn = ({ headers }: VisitResponse): string =>
  String(headers["set-cookie"]?.[0]).split(";")[0] ?? "";

/**
 * Takes a person through the whole entry to a site; returns the cookie, or null when the platform's page is
 * not found.
 */
export async function cookieOf(
  rig: Pick<SiteRig, "visit">,
  person: Person,
  host: string,
): Promise<string | null> {
  const { headers } = await rig.visit(host);
  const entered = await enter(rig, person, String(headers.location));
  if (entered.status !== 200) return null;
  const { pathname, search } = ticketIn(entered);
  return cookieIn(await rig.visit(host, pathname + search));
}
