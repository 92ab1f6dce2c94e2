import type { FastifyInstance } from "fastify";
import { notFound } from "../core/failure.ts";
import type { SiteVisits } from "../core/websites/visit.ts";
import { effectiveSiteVisibility, isOffline } from "../core/websites/website.ts";
import { html, words } from "./html.ts";
import { sendPage } from "./page.ts";
import { type ConsoleParts, queryText, requireSignIn } from "./parts.ts";

/** Dependencies of the entrance to websites that are not public. */
export interface SiteEntrance {
  readonly visits: Pick<SiteVisits, "ticket">;
  readonly siteUrl: (label: string) => string;
}

/**
 * `/sites/enter`: issues a single-use ticket for a website to a person who may see it: a session of the team
 * for a team's website, any session of the owner and of listed viewers for a private one. Other users get
 * "not found". It answers with a page that refreshes to the site, not with a redirect: after a form, browsers
 * apply the form's `form-action` policy to redirects, which does not include the site.
 */
export const siteEntrance =
  ({ visits: siteVisits, siteUrl }: SiteEntrance) =>
  (app: FastifyInstance, { visits, store }: ConsoleParts): void => {
    const enter = requireSignIn(visits)(async (request, reply, { session, member }) => {
      const site = await store.websites.byLabel(queryText(request, "site"));
      if (site === null || isOffline(site)) throw notFound("page");
      const visibility = effectiveSiteVisibility(site);
      const isAdmitted = {
        public: async () => false,
        team: async () => member !== null && site.spaceId === session.spaceId,
        private: () => store.siteVisits.maySee(session.accountId, site.id, "private"),
      }[visibility];
      if (!(await isAdmitted())) throw notFound("page");
      const ticket = await siteVisits.ticket(site, session.accountId);
      const url = `${siteUrl(site.label)}/.ticket?${new URLSearchParams({ ticket, path: queryText(request, "path") })}`;
      reply.header("Refresh", `0; url=${url}`);
      return sendPage(reply, visits, {
        title: words("Redirecting", "Weiterleitung"),
        body: html`<p><a href="${url}">${words(`Continue to ${site.title}`, `Weiter zu ${site.title}`)}</a></p>`,
      });
    });
    app.get("/sites/enter", enter);
  };
