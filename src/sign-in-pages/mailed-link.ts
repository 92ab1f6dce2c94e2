import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { isLinkText, linkDigest } from "../core/sign-in/link.ts";
import type { LinkRequest } from "../core/sign-in/link-request.ts";
import { browserDigest, proveByMailedLink, signInAddress } from "../core/sign-in/mailed-link.ts";
import { isEmailAddress } from "../core/use-cases/invite-person.ts";
import { signInTarget } from "./entrance.ts";
import { enterOrAskForCode } from "./factors/second-step.ts";
import { alertMessage, buttonLink, field, hiddenField, postForm } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { sendPage } from "./page.ts";
import { type ConsoleParts, queryText, requestOrigin } from "./parts.ts";
import { anotherWay, continueWord, emailLabel, notAnAddress, signInWord } from "./words.ts";

const path = "/sign-in/mail";

/**
 * The page on which a person asks for a link, which leads to `next` after sign-in; null when people cannot
 * ask for one.
 */
export const mailedLinkHref = (
  { visits, mailLink }: Pick<ConsoleParts, "visits" | "mailLink">,
  next: string,
): string | null => mailLink && visits.href(path, next);

/** A wildcard of any length: Fastify refuses long named parameters, and not with a page. */
export interface WildcardRoute {
  readonly Params: { readonly "*": string };
}

/** For a link that was used or is too old. @param help what a person without a session does */
export async function sendUsedLink(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  help: Html,
): Promise<FastifyReply> {
  const signedIn = await parts.visits.currentSession(request, reply);
  const body = signedIn
    ? html`<p>${words(`A sign-in link works once. You are signed in as ${signedIn.email}.`, `Ein Anmeldelink gilt einmal. Sie sind als ${signedIn.email} angemeldet.`)}</p>
${buttonLink(signInTarget(parts, ""), continueWord)}`
    : help;
  return sendPage(reply, parts.visits, {
    status: 410,
    title: words("This link is no longer valid", "Dieser Link gilt nicht mehr"),
    body,
  });
}

/**
 * `/sign-in/mail`: a person asks for a sign-in link by mail. The answer is the same for every address. GET of
 * the link only shows a button, so that mail scanners do not use it up; POST uses it, in the browser that
 * asked (spec/decisions.md 142).
 */
export function mailedLinkRoutes(
  app: FastifyInstance,
  parts: ConsoleParts,
  mailLink: (request: LinkRequest) => void,
): void {
  const { visits, store, clock } = parts;

  /** The browser, by its cookie for forms before sign-in; null for a cookie that no page has set. */
  function browserOf(request: FastifyRequest): string | null {
    const secret = visits.cookie(request, "visitor") ?? "";
    return isLinkText(secret) ? browserDigest(secret) : null;
  }

  function form(
    request: FastifyRequest,
    reply: FastifyReply,
    next: string,
    wrong: Html | null,
  ): FastifyReply {
    const body = html`<p>${words("You get a link by mail that signs you in without a password.", "Sie bekommen einen Link per E-Mail, der Sie ohne Passwort anmeldet.")}</p>
${postForm(
  visits.href(path),
  html`${alertMessage(wrong)}${visits.visitorToken(request, reply)}${hiddenField("next", next)}
${field({ name: "email", label: emailLabel, autocomplete: "username", isInvalid: wrong !== null })}`,
  words("Send the link", "Link senden"),
)}
<p class="quiet small"><a href="${visits.signInHref(next)}">${anotherWay}</a></p>`;
    return sendPage(reply, visits, {
      title: words("Sign in by mail", "Per E-Mail anmelden"),
      body,
      status: wrong === null ? 200 : 400,
    });
  }

  app.get(path, async (request, reply) =>
    form(request, reply, signInTarget(parts, queryText(request, "next")), null),
  );

  app.post(path, async (request, reply) => {
    const sent = visits.visitorForm(request);
    const [next, email] = [signInTarget(parts, sent.text("next")), sent.text("email").trim().toLowerCase()];
    if (!isEmailAddress(email)) return form(request, reply, next, notAnAddress);
    const browser = browserOf(request);
    if (browser === null) throw new Failure("permission_denied", "the browser has no cookie of these pages");
    await parts.countLink(email, requestOrigin(parts, request).address);
    const asked = { email, browser, next };
    // All that depends on the account comes after the answer, so its time shows nothing.
    reply.raw.once("close", () => mailLink(asked));
    const body = html`<p>${words(
      html`If ${email} has an account, a mail is on its way. Open its link <strong>in this browser</strong>, within 15 minutes. It works once.`,
      html`Wenn ${email} ein Konto hat, ist eine E-Mail unterwegs. Öffnen Sie ihren Link <strong>in diesem Browser</strong>, innerhalb von 15 Minuten. Er gilt einmal.`,
    )}</p>
<p class="quiet small">${words("No mail? Look in the spam folder, and check the address.", "Keine E-Mail? Sehen Sie im Spam-Ordner nach, und prüfen Sie die Adresse.")} <a href="${visits.href(path, next)}">${words("Ask again", "Erneut anfragen")}</a> · <a href="${visits.signInHref(next)}">${anotherWay}</a></p>`;
    return sendPage(reply, visits, { title: words("Check your mail", "Sehen Sie in Ihre E-Mails"), body });
  });

  const sendUnusable = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    sendUsedLink(
      parts,
      request,
      reply,
      html`<p>${words("A sign-in link works once, within 15 minutes. Ask for a new one, or sign in another way.", "Ein Anmeldelink gilt einmal, 15 Minuten lang. Fordern Sie einen neuen an, oder melden Sie sich anders an.")}</p>
${buttonLink(visits.href(path), words("Ask for a new link", "Neuen Link anfordern"))}
${buttonLink(visits.href("/sign-in"), anotherWay, "secondary")}`,
    );

  const elsewhere = (next: string): Html =>
    html`<p>${words(
      "The link works only in the browser in which you requested it. Copy it, and open it there. It is still valid.",
      "Der Link gilt nur in dem Browser, in dem Sie ihn angefordert haben. Kopieren Sie ihn, und öffnen Sie ihn dort. Er gilt noch.",
    )}</p>
<p>${words("To sign in here, ask for a link in this browser.", "Um sich hier anzumelden, fordern Sie in diesem Browser einen Link an.")}</p>
${buttonLink(visits.href(path, next), words("Ask for a link here", "Hier einen Link anfordern"))}
<p class="quiet small">${words("If you did not request a link, close this page: another person may have sent it to you.", "Wenn Sie keinen Link angefordert haben, schließen Sie diese Seite: eine andere Person kann ihn gesendet haben.")}</p>`;

  app.get<WildcardRoute>(`${path}/*`, async (request, reply) => {
    const text = request.params["*"];
    const link = isLinkText(text) ? await store.mailedLinks.findOpen(linkDigest(text), clock.now()) : null;
    const email = link && (await signInAddress(store, link.accountId));
    if (link === null || email === null) return sendUnusable(request, reply);
    if (link.browser !== browserOf(request))
      return sendPage(reply, visits, {
        status: 403,
        title: words("Open the link in the other browser", "Öffnen Sie den Link im anderen Browser"),
        body: elsewhere(link.next),
      });
    const body = html`<p>${words(`You sign in as ${email}. The link works once.`, `Sie melden sich als ${email} an. Der Link gilt einmal.`)}</p>
${postForm(visits.href(`${path}/${text}`), visits.visitorToken(request, reply), signInWord)}`;
    return sendPage(reply, visits, { title: signInWord, body });
  });

  app.post<WildcardRoute>(`${path}/*`, async (request, reply) => {
    visits.visitorForm(request);
    const [text, browser] = [request.params["*"], browserOf(request)];
    const used = browser && (await store.change((tx) => proveByMailedLink(tx, clock.now(), text, browser)));
    return !used
      ? sendUnusable(request, reply)
      : enterOrAskForCode(parts, request, reply, { ...used, spaceId: null });
  });
}
