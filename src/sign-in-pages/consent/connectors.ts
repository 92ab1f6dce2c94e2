import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isClientId, type TeamApp } from "../../core/oauth/app.ts";
import { chooseConnectors } from "../../core/oauth/consent.ts";
import type { OAuthGrant } from "../../core/oauth/grant.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import { buttonLink, postForm } from "../form.ts";
import { html, words } from "../html.ts";
import { noticeMessage } from "../notice.ts";
import { sendPage, sendRedirect } from "../page.ts";
import { type ConsoleParts, creationContext, queryText, requestOrigin } from "../parts.ts";
import { yourApps } from "../words.ts";
import { auditConsent, findMembership } from "./approval.ts";
import { appName, connectorChoice } from "./consent-page.ts";

const path = "/oauth-apps/connector-consent";

/** The page of an app's connectors (spec/oauth.md 3). */
const connectorsHref = (clientId: string): string => `${path}?client_id=${encodeURIComponent(clientId)}`;

interface GrantedApp {
  readonly app: TeamApp;
  readonly grant: OAuthGrant;
  readonly teamName: string;
}

/** Routes to grant and withdraw connectors of an app that the user has authorized. */
export function connectorRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store } = parts;
  const hrefOf = (clientId: string): string => visits.href(connectorsHref(clientId));

  app.get(path, (request, reply) => answer(request, reply, show));
  app.post(path, (request, reply) => answer(request, reply, change));

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    step: (
      request: FastifyRequest,
      reply: FastifyReply,
      who: SessionHolder,
      grantedApp: GrantedApp,
    ) => Promise<FastifyReply> | FastifyReply,
  ): Promise<FastifyReply> {
    const clientId = queryText(request, "client_id");
    const who = await visits.currentSession(request, reply);
    if (who === null) return sendRedirect(reply, visits.signInHref(hrefOf(clientId)));
    const grantedApp = await find(who.session.accountId, clientId);
    return grantedApp === null ? sendNotFound(reply, who) : step(request, reply, who, grantedApp);
  }

  /**
   * Returns null for an app that is unknown, of another team, not authorized or without connectors: callers
   * cannot distinguish them.
   */
  async function find(accountId: string, clientId: string): Promise<GrantedApp | null> {
    const app = isClientId(clientId) ? await store.apps.find(clientId) : null;
    const spaceId = app?.spaceId ?? null;
    if (app === null || spaceId === null) return null;
    const team = await findMembership(store, accountId, spaceId);
    const grant = team && (await store.grants.find({ accountId, spaceId, clientId }));
    return team && grant?.scopes.includes("use_connectors")
      ? { app: { ...app, spaceId }, grant, teamName: team.name }
      : null;
  }

  const sendNotFound = (reply: FastifyReply, { email }: SessionHolder): FastifyReply =>
    sendPage(reply, visits, {
      status: 404,
      title: words("No connectors to choose", "Keine Konnektoren zur Wahl"),
      body: html`<p>${words(
        `${email} has not allowed this app to use connectors. If an app sent you here, allow it in the app first, or sign in with the account that you use for it.`,
        `${email} hat dieser App keine Konnektoren erlaubt. Wenn eine App Sie hierher geführt hat, erlauben Sie es zuerst in der App, oder melden Sie sich mit dem Konto an, das Sie dafür benutzen.`,
      )}</p>
${buttonLink(visits.apps, yourApps)}`,
    });

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    who: SessionHolder,
    { app, grant, teamName }: GrantedApp,
  ): FastifyReply {
    const saved = queryText(request, "saved") !== "";
    const body = html`${saved && noticeMessage(words("Saved.", "Gespeichert."))}
<p>${words(
      html`${appName(app)} acts for ${who.name ?? who.email} in the team ${teamName}. Choose the connectors that it may use. It immediately loses access to connectors that you remove.`,
      html`${appName(app)} handelt für ${who.name ?? who.email} im Team ${teamName}. Wählen Sie die Konnektoren, die sie benutzen darf. Auf entfernte Konnektoren verliert sie sofort den Zugriff.`,
    )}</p>
${app.connectorUids.length > 0 ? postForm(hrefOf(app.clientId), [visits.sessionToken(request), connectorChoice(app, grant.connectorUids)], words("Save", "Speichern")) : html`<p>${words("It has no connectors now.", "Sie hat jetzt keine Konnektoren.")}</p>`}
<p><a href="${visits.apps}">${yourApps}</a></p>`;
    return sendPage(reply, visits, {
      title: words(`Connectors of ${app.name}`, `Konnektoren von ${app.name}`),
      body,
    });
  }

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    who: SessionHolder,
    { app }: GrantedApp,
  ): Promise<FastifyReply> {
    const connectorUids = visits.sessionForm(request).all("connector");
    const { session } = who;
    const { spaceId, clientId } = app;
    const isChanged = await store.change(async (tx) => {
      const making = creationContext(parts);
      const choice = { accountId: session.accountId, spaceId, clientId, connectorUids, now: making.now };
      const isChosen =
        (await findMembership(tx, session.accountId, spaceId)) !== null &&
        (await chooseConnectors(tx, choice));
      if (isChosen)
        await auditConsent(tx, making, session, requestOrigin(parts, request), "ChooseConnectors", spaceId);
      return isChosen;
    });
    return isChanged ? sendRedirect(reply, `${hrefOf(clientId)}&saved=yes`) : sendNotFound(reply, who);
  }
}
