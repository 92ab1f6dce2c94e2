import type { FastifyInstance } from "fastify";
import { auditSession } from "../core/sign-in/start-session.ts";
import { postForm } from "./form.ts";
import { html, words } from "./html.ts";
import { withNotice } from "./notice.ts";
import { type Page, sendPage, sendRedirect } from "./page.ts";
import { type ConsoleParts, creationContext, requestOrigin, requireSignIn } from "./parts.ts";
import { appsPath } from "./visits.ts";
import { backWord, yourApps } from "./words.ts";

/** Where the installation has no web application. */
const noListPage: Page = {
  status: 404,
  title: yourApps,
  body: html`<p>${words("This server has no web application. With an API key, the API lists the apps that act for you, and revokes their access:", "Dieser Server hat keine Webanwendung. Mit einem API-Schlüssel listet die API die Apps auf, die für Sie handeln, und widerruft ihren Zugriff:")}</p>
<p><code>atp api oauth.v2.OAuth2AppService/<wbr>ListOAuth2Grants</code></p>
<p><code>atp api oauth.v2.OAuth2AppService/<wbr>RevokeOAuth2Grant -f clientId=…</code></p>`,
};

/** The end of a session, and the addresses of pages that the web application has. */
export function accountRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store } = parts;
  const path = "/sign-out";

  // With the notice that the address names.
  app.get("/account", (request, reply) =>
    sendRedirect(reply, `${visits.account}${request.url.slice("/account".length)}`),
  );
  app.get(appsPath, (_, reply) =>
    visits.apps === visits.href(appsPath)
      ? sendPage(reply, visits, noListPage)
      : sendRedirect(reply, visits.apps),
  );

  app.get(path, async (request, reply) => {
    const who = await visits.currentSession(request, reply);
    // A sign-in must not lead back here.
    if (who === null) return sendRedirect(reply, visits.href("/sign-in"));
    const title = words("Sign out", "Abmelden");
    const body = html`<p>${words(`You are signed in as ${who.email}.`, `Sie sind als ${who.email} angemeldet.`)}</p>
${postForm(visits.href(path), visits.sessionToken(request), title)}
<p><a href="${visits.href("/sign-in")}">${words("Sign in with another account", "Mit einem anderen Konto anmelden")}</a></p>
<p><a href="${visits.account}">${backWord}</a></p>`;
    return sendPage(reply, visits, { title, body });
  });

  app.post(
    path,
    requireSignIn(visits)(async (request, reply, { session }) => {
      visits.sessionForm(request);
      await store.change(async (tx) => {
        await tx.sessions.end(session.id);
        await auditSession(tx, creationContext(parts), session, requestOrigin(parts, request), "SignOut");
      });
      visits.setSession(reply, null);
      // Forms that were filled in before cannot be submitted again.
      visits.setCookie(reply, "visitor", null);
      return sendRedirect(reply, withNotice(visits.href("/sign-in"), "signed-out"));
    }),
  );
}
