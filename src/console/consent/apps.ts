import type { FastifyInstance } from "fastify";
import { sessionCaller } from "../../call/credential.ts";
import { Failure } from "../../core/failure.ts";
import { type AuthorizedApp, authorizedApps } from "../../core/oauth/authorized-apps.ts";
import { isClientId } from "../../core/oauth/client.ts";
import type { Tx } from "../../core/store.ts";
import { hidden } from "../fields.ts";
import { guard } from "../guard.ts";
import { type Html, html } from "../html.ts";
import { sendPage, sendTo } from "../page.ts";
import { type ConsoleParts, fromOf, makingOf } from "../parts.ts";
import { auditConsent } from "./audit.ts";
import { connectorsHref } from "./connectors.ts";
import { appName, connectorName, scopeList } from "./words.ts";

const path = "/account/apps";
const dateForm = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });

/** `/account/apps`: what the user lets apps do in this space, and how it is taken back (contract/oauth.md 1.4). */
export function appsRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;
  const signedIn = guard(visits);
  const authorized = authorizedApps(clock);

  app.get(
    path,
    signedIn(async (request, reply, who) => {
      const all = await authorized.list(store, sessionCaller(who));
      const token = visits.sessionToken(request);
      const none = html`<p>No app acts for you in this space.</p>`;
      const body = html`<p class="quiet">Apps that act for you in ${who.teamName === null ? "your personal space" : `the team ${who.teamName}`}.</p>
${all.length === 0 ? none : all.map((each) => entry(each, token))}
<p class="actions"><a href="${visits.href("/account")}">Back</a></p>`;
      return sendPage(reply, visits.base, { title: "Your apps", body });
    }),
  );

  const entry = ({ app, grant }: AuthorizedApp, token: Html): Html => {
    const scopes = grant.scopes.filter((name) => app.scopes.includes(name));
    const names = grant.connectorUids.filter((uid) => app.connectorUids.includes(uid)).map(connectorName);
    const connects = scopes.includes("use_connectors");
    return html`<section>
<h2>${appName(app)}</h2>
${grant.generation !== app.generation && html`<p class="notice">It asks for more than it did. Until you allow that, it can do nothing.</p>`}
<p>It may</p>
${scopeList(scopes)}
<dl>
${connects && html`<dt>Connectors</dt><dd>${names.length === 0 ? "None" : names.join(", ")}</dd>`}
<dt>Since</dt><dd><time datetime="${new Date(grant.createdAt).toISOString()}">${dateForm.format(grant.createdAt)}</time></dd>
</dl>
${connects && html`<p><a href="${visits.href(connectorsHref(app.clientId))}">Choose the connectors of ${app.name}</a></p>`}
<form class="inline" method="post" action="${visits.href(`${path}/revoke`)}">${token}${hidden("client_id", app.clientId)}<button class="secondary" type="submit" aria-label="Revoke ${app.name}">Revoke</button></form>
</section>`;
  };

  app.post(
    `${path}/revoke`,
    signedIn(async (request, reply, who) => {
      const clientId = visits.sessionForm(request).text("client_id");
      const { session } = who;
      const revoke = async (tx: Tx) => {
        await authorized.revoke(tx, sessionCaller(who), clientId);
        await auditConsent(tx, makingOf(parts), { session, spaceId: session.spaceId }, fromOf(parts, request), "RevokeApp");
      };
      if (isClientId(clientId)) await store.change(revoke).catch(passOverAbsent);
      return sendTo(reply, visits.href(path));
    }),
  );
}

/** What is gone already, or never was, needs no taking back. */
function passOverAbsent(thrown: unknown): void {
  if (!(thrown instanceof Failure && thrown.reason === "absent")) throw thrown;
}
