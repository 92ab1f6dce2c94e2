import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OAuthApp } from "../../core/oauth/app.ts";
import { isClientId } from "../../core/oauth/client.ts";
import { chooseConnectors } from "../../core/oauth/connector-choice.ts";
import type { OAuthGrant } from "../../core/oauth/grant.ts";
import type { SessionHolder } from "../../core/sign-in/session.ts";
import { type Html, html } from "../html.ts";
import { sendPage, sendTo } from "../page.ts";
import { type ConsoleParts, fromOf, makingOf, queryText } from "../parts.ts";
import { auditConsent } from "./audit.ts";
import { membershipIn } from "./membership.ts";
import { appName, connectorChoice } from "./words.ts";

const path = "/oauth-apps/connector-consent";

/** The page of an app's connectors (contract/oauth.md 3). */
export const connectorsHref = (clientId: string): string => `${path}?client_id=${encodeURIComponent(clientId)}`;

/** An app that somebody lets act in its team. */
interface Found {
  readonly app: OAuthApp;
  readonly grant: OAuthGrant;
  readonly teamName: string;
}

/** Grants and withdraws single connectors of an app that the user has allowed. */
export function connectorRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store } = parts;
  const hrefOf = (clientId: string): string => visits.href(connectorsHref(clientId));

  app.get(path, (request, reply) => answer(request, reply, show));
  app.post(path, (request, reply) => answer(request, reply, change));

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    step: (request: FastifyRequest, reply: FastifyReply, who: SessionHolder, found: Found) => Promise<FastifyReply> | FastifyReply,
  ): Promise<FastifyReply> {
    const clientId = queryText(request, "client_id");
    const who = await visits.currentSession(request, reply);
    if (who === null) return sendTo(reply, visits.signInHref(hrefOf(clientId)));
    const found = await find(who.session.accountId, clientId);
    return found === null ? nothing(reply, who) : step(request, reply, who, found);
  }

  /** Unknown, another team's, never allowed, without connectors: one and the same to whoever asks. */
  async function find(accountId: string, clientId: string): Promise<Found | null> {
    const app = isClientId(clientId) ? await store.apps.find(clientId) : null;
    if (app === null) return null;
    const team = await membershipIn(store, accountId, app.spaceId);
    const grant = team && (await store.grants.find({ accountId, spaceId: app.spaceId, clientId }));
    return team && grant?.scopes.includes("use_connectors") ? { app, grant, teamName: team.name } : null;
  }

  const nothing = (reply: FastifyReply, { email }: SessionHolder): FastifyReply =>
    sendPage(reply, visits.base, {
      status: 404,
      title: "No connectors to choose",
      body: html`<p>There is no such app that ${email} lets use connectors. If an app sent you here, allow it there first, or sign in with the account that you use it with.</p>
<p><a class="button" href="${visits.href("/account/apps")}">Your apps</a></p>`,
    });

  function show(request: FastifyRequest, reply: FastifyReply, who: SessionHolder, { app, grant, teamName }: Found): FastifyReply {
    const saved = queryText(request, "saved") !== "";
    const body = html`${saved && html`<p class="notice" role="status">Saved. It holds from now on.</p>`}
<p>${appName(app)} acts for ${who.name ?? who.email} in the team ${teamName}. Choose what it may work with; what you take away is closed to it at once.</p>
${app.connectorUids.length > 0 ? form(app, grant, visits.sessionToken(request)) : html`<p>It has no connectors now.</p>`}
<p><a href="${visits.href("/account/apps")}">Your apps</a></p>`;
    return sendPage(reply, visits.base, { title: `Connectors of ${app.name}`, body });
  }

  const form = (app: OAuthApp, grant: OAuthGrant, token: Html): Html => html`<form method="post" action="${hrefOf(app.clientId)}">
${token}${connectorChoice(app, grant.connectorUids)}
<button type="submit">Save</button>
</form>`;

  async function change(request: FastifyRequest, reply: FastifyReply, who: SessionHolder, { app }: Found): Promise<FastifyReply> {
    const connectorUids = visits.sessionForm(request).all("connector");
    const { session } = who;
    const { spaceId, clientId } = app;
    const changed = await store.change(async (tx) => {
      const making = makingOf(parts);
      const choice = { accountId: session.accountId, spaceId, clientId, connectorUids, now: making.now };
      const done = (await membershipIn(tx, session.accountId, spaceId)) !== null && (await chooseConnectors(tx, choice));
      if (done) await auditConsent(tx, making, { session, spaceId }, fromOf(parts, request), "ChooseConnectors");
      return done;
    });
    return changed ? sendTo(reply, `${hrefOf(clientId)}&saved=yes`) : nothing(reply, who);
  }
}
