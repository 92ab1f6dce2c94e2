import type { FastifyInstance } from "fastify";
import { sessionCaller } from "../../call/credential.ts";
import { Failure, notFound } from "../../core/failure.ts";
import { isClientId } from "../../core/oauth/app.ts";
import { isDocumentClientId } from "../../core/oauth/client-documents.ts";
import { type AuthorizedApp, authorizedApps } from "../../core/oauth/grant.ts";
import type { Tx } from "../../core/store.ts";
import type { MorePages } from "../console.ts";
import { hiddenField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { noticeOf, withNotice } from "../notice.ts";
import { sendPage, sendRedirect } from "../page.ts";
import { type ConsoleParts, creationContext, requestOrigin, requireSignIn } from "../parts.ts";
import { type AuthorizationSettings, auditConsent } from "./approval.ts";
import { authorizeRoutes } from "./authorize.ts";
import { connectorRoutes, connectorsHref, appsPath as path } from "./connectors.ts";
import { appName, connectorName, scopeList } from "./consent-page.ts";
import { deviceRoutes } from "./device.ts";

const dateForm = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });

/** `/account/apps`: the apps that the user has authorized in this space, and their revocation (spec/oauth.md 1.4). */
function appsRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;
  const signedIn = requireSignIn(visits);
  const authorized = authorizedApps(clock);

  app.get(
    path,
    signedIn(async (request, reply, who) => {
      const all = await authorized.list(store, sessionCaller(who));
      const token = visits.sessionToken(request);
      const none = html`<p>No app acts for you in this space.</p>`;
      const body = html`${noticeOf(request)}<p class="quiet">Apps that act for you in ${who.teamName === null ? "your personal space" : `the team ${who.teamName}`}.</p>
${all.length === 0 ? none : all.map((each) => entry(each, token))}
<p class="actions"><a href="${visits.href("/account")}">Back</a></p>`;
      return sendPage(reply, visits, { title: "Your apps", body });
    }),
  );

  const entry = ({ app, grant }: AuthorizedApp, token: Html): Html => {
    const scopes = grant.scopes.filter((name) => app.scopes.includes(name));
    const names = grant.connectorUids.filter((uid) => app.connectorUids.includes(uid)).map(connectorName);
    const connects = scopes.includes("use_connectors");
    return html`<section>
<h2>${appName(app)}</h2>
${!app.verified && html`<p class="quiet">Not verified by this server.</p>`}
${grant.generation !== app.generation && html`<p class="notice">It requests more permissions than before. It has no access until you allow them.</p>`}
<p>It may</p>
${scopeList(scopes)}
<dl>
${connects && html`<dt>Connectors</dt><dd>${names.length === 0 ? "None" : names.join(", ")}</dd>`}
<dt>Since</dt><dd><time datetime="${new Date(grant.createdAt).toISOString()}">${dateForm.format(grant.createdAt)}</time></dd>
</dl>
${connects && html`<p><a href="${visits.href(connectorsHref(app.clientId))}">Choose the connectors of ${app.name}</a></p>`}
<form class="inline" method="post" action="${visits.href(`${path}/revoke`)}">${token}${hiddenField("client_id", app.clientId)}<button class="secondary" type="submit" aria-label="Revoke ${app.name}">Revoke</button></form>
</section>`;
  };

  app.post(
    `${path}/revoke`,
    signedIn(async (request, reply, who) => {
      const clientId = visits.sessionForm(request).text("client_id");
      const { session } = who;
      const revoke = async (tx: Tx) => {
        await authorized.revoke(tx, sessionCaller(who), clientId);
        await auditConsent(tx, creationContext(parts), { session, spaceId: session.spaceId }, requestOrigin(parts, request), "RevokeApp");
      };
      if (isClientId(clientId) || isDocumentClientId(clientId)) await store.change(revoke).catch(ignoreNotFound);
      return sendRedirect(reply, withNotice(visits.href(path), "revoked"));
    }),
  );
}

/** An absent authorization needs no revocation. */
function ignoreNotFound(thrown: unknown): void {
  if (!(thrown instanceof Failure && thrown.reason === "not_found")) throw thrown;
}

/** Only pages are below these paths: unknown paths are answered with a page. */
const pagePaths = ["/openapi/*", "/oauth-apps/*", "/account/*", "/sign-in/*", "/device/*"];

/** The pages on which users authorize apps and revoke the authorization. */
export const consentPages =
  (settings: AuthorizationSettings): MorePages =>
  (app, parts) => {
    authorizeRoutes(app, parts, settings);
    deviceRoutes(app, parts, settings);
    connectorRoutes(app, parts);
    appsRoutes(app, parts);
    const refuseUnknown = async () => {
      throw notFound("page");
    };
    for (const url of pagePaths) app.route({ method: ["GET", "POST"], url, handler: refuseUnknown });
  };
