import type { FastifyInstance } from "fastify";
import { absent } from "../core/failure.ts";
import type { SiteVisits } from "../core/websites/visit.ts";
import { effectiveVisibility } from "../core/websites/website.ts";
import { guard } from "./guard.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";
import { type ConsoleParts, queryText } from "./parts.ts";

/** How somebody gets from here to a team's website. */
export interface SiteEntrance {
  readonly visits: Pick<SiteVisits, "ticket">;
  readonly siteUrl: (label: string) => string;
}

/**
 * `/sites/enter`: gives a member of the team a ticket for its website, to be used once. To everybody else there is no
 * such site. The way there is a page that leads on by itself: a browser takes what follows a form to where that may not lead.
 */
export const siteEntrance =
  ({ visits: siteVisits, siteUrl }: SiteEntrance) =>
  (app: FastifyInstance, { visits, store }: ConsoleParts): void => {
    const enter = guard(visits)(async (request, reply, { session, member }) => {
      const site = await store.websites.byLabel(queryText(request, "site"));
      const isTheirs = site !== null && member !== null && site.spaceId === session.spaceId;
      if (!isTheirs || site.liveId === null || effectiveVisibility(site) !== "team") throw absent("page");
      const ticket = await siteVisits.ticket(site, session.accountId);
      const url = `${siteUrl(site.label)}/.ticket?${new URLSearchParams({ ticket, path: queryText(request, "path") })}`;
      reply.header("Refresh", `0; url=${url}`);
      return sendPage(reply, visits.base, { title: "One moment", body: html`<p><a href="${url}">Go on to ${site.title}</a></p>` });
    });
    app.get("/sites/enter", enter);
  };
