import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isTeamClientId, type OAuthApp, type TeamApp } from "../core/oauth/app.ts";
import { isEmailAddress } from "../core/use-cases/invite-person.ts";
import { authorizePath } from "./consent/approval.ts";
import { nextPath } from "./entrance.ts";
import { alertMessage, field, hiddenField, postForm } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { type AccessRequest, type ConsoleParts, queryText, requestOrigin } from "./parts.ts";
import { backToSignIn, notAnAddress } from "./words.ts";

/** The page on which a person asks for access. */
export const accessPath = "/sign-in/ask";

/** How long a browser keeps the request of the app: an invitation may take days. */
const returnMs = 7 * 24 * 3_600_000;
/**
 * Requests that an app's owner gets in a day, over all people. The day's last minute is the key of its
 * counter.
 */
const perDay = 20;
const lastMinuteOf = (now: number): number => Math.floor(now / 86_400_000) * 1440 + 1439;

/** Whether a target after sign-in is a request of an app. */
export const isAppRequest = ({ visits }: Pick<ConsoleParts, "visits">, next: string): boolean =>
  next.startsWith(`${visits.href(authorizePath)}?`);

const clientIdOf = (next: string): string =>
  new URLSearchParams(next.slice(next.indexOf("?"))).get("client_id") ?? "";

/**
 * Whether it is a request of an app of a team, whose owner can give access. The command line and unverified
 * clients belong to no team.
 */
export const isTeamAppRequest = (parts: Pick<ConsoleParts, "visits">, next: string): boolean =>
  isAppRequest(parts, next) && isTeamClientId(clientIdOf(next));

/**
 * `/sign-in/ask`: a person without an account asks for access to the team of an app. The answer is the same
 * for every address.
 */
export function accessRequestRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;

  /** The app whose request comes after sign-in. */
  async function appOf(next: string): Promise<TeamApp | null> {
    const found = isTeamAppRequest(parts, next) ? await store.apps.find(clientIdOf(next)) : null;
    return found !== null && found.spaceId !== null ? { ...found, spaceId: found.spaceId } : null;
  }

  const targetOf = (text: string): string => nextPath(visits.base, text) ?? "";

  function show(reply: FastifyReply, app: OAuthApp, body: Html, status = 200): FastifyReply {
    return sendPage(reply, visits, {
      title: words(`Ask for access to ${app.name}`, `Zugriff auf ${app.name} anfragen`),
      body,
      status,
    });
  }

  const form = (token: Html, app: OAuthApp, next: string, wrong: Html | null): Html => html`<p>${words(
    `${app.name} is for members of one team. The owner of the team can invite you. Open the invitation in this browser: it leads back to ${app.name}.`,
    `${app.name} ist für Mitglieder eines Teams. Der Inhaber des Teams kann Sie einladen. Öffnen Sie die Einladung in diesem Browser: sie führt zurück zu ${app.name}.`,
  )}</p>
${postForm(
  visits.href(accessPath),
  html`${alertMessage(wrong)}${token}${hiddenField("next", next)}
${field({ name: "email", label: words("Your e-mail address", "Ihre E-Mail-Adresse"), autocomplete: "username", isInvalid: wrong !== null })}`,
  words("Ask for access", "Zugriff anfragen"),
)}
<p><a href="${visits.signInHref(next)}">${backToSignIn}</a></p>`;

  app.get(accessPath, async (request, reply) => {
    const next = targetOf(queryText(request, "next"));
    const found = await appOf(next);
    if (found === null) return sendRedirect(reply, visits.href("/sign-in"));
    return show(reply, found, form(visits.visitorToken(request, reply), found, next, null));
  });

  app.post(accessPath, async (request, reply) => {
    const sent = visits.visitorForm(request);
    const [next, email] = [targetOf(sent.text("next")), sent.text("email").trim()];
    const found = await appOf(next);
    if (found === null) return sendRedirect(reply, visits.href("/sign-in"));
    await parts.countAttempt(email, requestOrigin(parts, request).address);
    if (!isEmailAddress(email))
      return show(reply, found, form(visits.visitorToken(request, reply), found, next, notAnAddress), 400);
    visits.setCookie(reply, "return", Buffer.from(next).toString("base64url"), returnMs);
    if (parts.askOwner === null) return show(reply, found, byHand(found, email));
    await notifyOwner(found, email, parts.askOwner);
    return show(
      reply,
      found,
      html`<p>${words(
        `The owner of the team gets your request. Open the invitation to ${email} in this browser: it leads back to ${found.name}.`,
        `Der Inhaber des Teams bekommt Ihre Anfrage. Öffnen Sie die Einladung an ${email} in diesem Browser: sie führt zurück zu ${found.name}.`,
      )}</p>`,
    );
  });

  async function notifyOwner(
    found: TeamApp,
    email: string,
    ask: (request: AccessRequest) => void,
  ): Promise<void> {
    const [owner, team] = await Promise.all([
      store.accounts.ownerOf(found.spaceId),
      store.accounts.teamOf(found.spaceId),
    ]);
    const key = `access ${createHash("sha256").update(found.clientId).digest("base64url")}`;
    const { granted } = await store.counters.take(key, lastMinuteOf(clock.now()), 1, perDay);
    if (owner && team && granted > 0) ask({ owner: owner.email, email, app: found.name, team: team.name });
  }

  const byHand = (found: OAuthApp, email: string): Html => html`<p>${words(
    `This server sends no mail. Send this to the person who gave you ${found.name}:`,
    `Dieser Server sendet keine E-Mails. Senden Sie dies an die Person, von der Sie ${found.name} haben:`,
  )}</p>
<pre>${words(`Please invite ${email} to the team of ${found.name}.\nOn the server:`, `Bitte laden Sie ${email} in das Team von ${found.name} ein.\nAuf dem Server:`)} <code>atp user --email ${email}</code></pre>
<p>${words(
    `Open the link that you get in this browser: it leads back to ${found.name}.`,
    `Öffnen Sie den Link, den Sie bekommen, in diesem Browser: er führt zurück zu ${found.name}.`,
  )}</p>`;
}
