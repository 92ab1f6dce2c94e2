import type { FastifyInstance } from "fastify";
import { Failure, notFound } from "../../core/failure.ts";
import { isClientId } from "../../core/oauth/app.ts";
import { isDocumentClientId } from "../../core/oauth/client-documents.ts";
import { type AuthorizedApp, authorizedApps } from "../../core/oauth/grant.ts";
import type { Tx } from "../../core/store.ts";
import { sessionCaller } from "../../pipeline/credential.ts";
import type { MorePages } from "../console.ts";
import { hiddenField } from "../form.ts";
import { type Html, html, words } from "../html.ts";
import { noticeOf, withNotice } from "../notice.ts";
import { sendPage, sendRedirect } from "../page.ts";
import { type ConsoleParts, creationContext, requestOrigin, requireSignIn } from "../parts.ts";
import { backWord } from "../words.ts";
import { type AuthorizationSettings, auditConsent } from "./approval.ts";
import { authorizeRoutes } from "./authorize.ts";
import { connectorRoutes, connectorsHref, appsPath as path, yourApps } from "./connectors.ts";
import { appName, connectorName, scopeList } from "./consent-page.ts";
import { deviceRoutes } from "./device.ts";

const dateIn = (tag: string, at: number): string => new Intl.DateTimeFormat(tag, { dateStyle: "long", timeZone: "UTC" }).format(at);

const inSpace = (team: string | null): Html =>
  team === null
    ? words("Apps that act for you in your personal space.", "Apps, die in Ihrem persönlichen Bereich für Sie handeln.")
    : words(`Apps that act for you in the team ${team}.`, `Apps, die im Team ${team} für Sie handeln.`);

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
      const none = html`<p>${words("No app acts for you in this space.", "In diesem Bereich handelt keine App für Sie.")}</p>`;
      const body = html`${noticeOf(request)}<p class="quiet">${inSpace(who.teamName)}</p>
${all.length === 0 ? none : all.map((each) => entry(each, token))}
<p class="actions"><a href="${visits.account}">${backWord}</a></p>`;
      return sendPage(reply, visits, { title: yourApps, body });
    }),
  );

  const entry = ({ app, grant }: AuthorizedApp, token: Html): Html => {
    const scopes = grant.scopes.filter((name) => app.scopes.includes(name));
    const names = grant.connectorUids.filter((uid) => app.connectorUids.includes(uid)).map(connectorName);
    const connects = scopes.includes("use_connectors");
    return html`<section>
<h2>${appName(app)}</h2>
${!app.verified && html`<p class="quiet">${words("Not verified by this server.", "Von diesem Server nicht geprüft.")}</p>`}
${grant.generation !== app.generation && html`<p class="notice">${words("It requests more permissions than before. It has no access until you allow them.", "Sie verlangt mehr Rechte als vorher. Sie hat keinen Zugriff, bis Sie sie erlauben.")}</p>`}
<p>${words("It may", "Sie darf")}</p>
${scopeList(scopes)}
<dl>
${connects && html`<dt>${words("Connectors", "Konnektoren")}</dt><dd>${names.length === 0 ? words("None", "Keine") : names.join(", ")}</dd>`}
<dt>${words("Since", "Seit")}</dt><dd><time datetime="${new Date(grant.createdAt).toISOString()}">${words(dateIn("en", grant.createdAt), dateIn("de", grant.createdAt))}</time></dd>
</dl>
${connects && html`<p><a href="${visits.href(connectorsHref(app.clientId))}">${words(`Choose the connectors of ${app.name}`, `Konnektoren von ${app.name} wählen`)}</a></p>`}
<form class="inline" method="post" action="${visits.href(`${path}/revoke`)}">${token}${hiddenField("client_id", app.clientId)}<button class="secondary" type="submit" aria-label="${words(`Revoke ${app.name}`, `${app.name} widerrufen`)}">${words("Revoke", "Widerrufen")}</button></form>
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
