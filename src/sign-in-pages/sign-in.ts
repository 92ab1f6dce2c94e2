import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isLinkText, type LinkProof, linkDigest, signInByLink } from "../core/sign-in/link.ts";
import { proveByPassword } from "../core/sign-in/prove.ts";
import { wideNetwork } from "../pipeline/limit.ts";
import { accessPath, isAppRequest, isTeamAppRequest } from "./access-request.ts";
import { chooseSpace, findCurrentSession, nextPath, signInTarget } from "./entrance.ts";
import { passkeyScript } from "./factors/passkey-form.ts";
import { passkeyButton, passkeySignInRoutes } from "./factors/passkey-sign-in.ts";
import { askForCode, enterOrAskForCode } from "./factors/second-step.ts";
import { alertMessage, buttonLink, field, hiddenField, postForm } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { knownAccounts } from "./known-browser.ts";
import { mailedLinkHref, sendUsedLink, type WildcardRoute } from "./mailed-link.ts";
import { noticeOf } from "./notice.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { type ConsoleParts, creationContext, queryText, requestOrigin } from "./parts.ts";
import { continueWith, emailLabel, linkByMail, orWord, passwordLabel, signInWord } from "./words.ts";

/** The same text for every reason, so that callers cannot find out which addresses have an account. */
const refusal = words(
  "The e-mail address or the password is wrong.",
  "Die E-Mail-Adresse oder das Passwort ist falsch.",
);

const noPassword = words("No password yet, or forgotten?", "Noch kein Passwort, oder vergessen?");

interface FormValues {
  readonly next: string;
  readonly email?: string;
  readonly wrong: Html | null;
}

const otherWay = (href: string, text: Html): Html =>
  html`<p class="or">${orWord}</p>${buttonLink(href, text, "secondary")}`;

/** `/sign-in`: with e-mail address and password, or through single sign-on. */
export function signInRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits } = parts;

  async function form(
    request: FastifyRequest,
    reply: FastifyReply,
    { next, email, wrong }: FormValues,
  ): Promise<FastifyReply> {
    const signedIn = await visits.currentSession(request, reply);
    const token = visits.visitorToken(request, reply);
    const linkHref = mailedLinkHref(parts, next);
    const body = html`${wrong === null && noticeOf(request)}${signedIn && signedInNotice(signedIn.email, next)}
${postForm(
  visits.href("/sign-in"),
  html`${alertMessage(wrong)}${token}${hiddenField("next", next)}
${field({ name: "email", label: emailLabel, autocomplete: "username", value: email ?? "" })}
${field({ name: "password", label: passwordLabel, autocomplete: "current-password", isInvalid: wrong !== null })}`,
  signInWord,
)}
${passkeyButton(parts, token, next)}
${parts.provider && otherWay(visits.href("/sign-in/single", next), continueWith(parts.provider.label))}
${linkHref && otherWay(linkHref, linkByMail)}
${helpFor(next, linkHref !== null)}`;
    return sendPage(reply, visits, {
      title: signInWord,
      body,
      status: wrong === null ? 200 : 401,
      ...(parts.relyingParty ? { script: passkeyScript } : {}),
    });
  }

  /** For people who cannot sign in in any way of the page. */
  function helpFor(next: string, hasLinks: boolean): Html {
    const ask = html`<a href="${visits.href(accessPath, next)}">${words("Ask the owner of the team for access", "Fragen Sie den Inhaber des Teams nach Zugriff")}</a>.`;
    if (isTeamAppRequest(parts, next))
      return html`<p class="quiet small">${hasLinks ? words("No account yet?", "Noch kein Konto?") : noPassword} ${ask}</p>`;
    return html`<p class="quiet small">${noPassword} ${hasLinks ? words("Get a link: it signs you in without one.", "Fordern Sie einen Link an: er meldet Sie ohne Passwort an.") : words("Ask your administrator for a sign-in link.", "Bitten Sie Ihren Administrator um einen Anmeldelink.")}</p>`;
  }

  const signedInNotice = (email: string, next: string): Html =>
    html`<p class="notice">${words(
      html`You are signed in as ${email}. <a href="${next}">Continue as ${email}</a>, or sign in with another account.`,
      html`Sie sind als ${email} angemeldet. <a href="${next}">Weiter als ${email}</a>, oder melden Sie sich mit einem anderen Konto an.`,
    )}</p>`;

  app.get("/sign-in", (request, reply) =>
    form(request, reply, { next: signInTarget(parts, queryText(request, "next")), wrong: null }),
  );

  app.post("/sign-in", async (request, reply) => {
    const sent = visits.visitorForm(request);
    const [email, next] = [sent.text("email"), signInTarget(parts, sent.text("next"))];
    const { address } = requestOrigin(parts, request);
    const from = { address, network: wideNetwork(address), knownAccounts: knownAccounts(parts, request) };
    const credentials = { email, password: sent.text("password"), ...from };
    const proven = await proveByPassword(parts.store, parts.clock, parts.countAttempt, credentials);
    return proven === null
      ? form(request, reply, { next, email, wrong: refusal })
      : enterOrAskForCode(parts, request, reply, {
          proven,
          email: email.trim().toLowerCase(),
          next,
          spaceId: null,
        });
  });

  if (parts.relyingParty)
    passkeySignInRoutes(app, parts, parts.relyingParty, (request, reply, next, wrong) =>
      form(request, reply, { next, wrong }),
    );

  app.post("/sign-in/space", (request, reply) => chooseSpace(parts, request, reply));
}

/** `/link/…`: GET only shows a button, so that mail scanners do not use up the link; POST uses it. */
export function linkRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;

  const sendUnusable = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    sendUsedLink(
      parts,
      request,
      reply,
      html`<p>${words("A sign-in link works once and for a limited time. Ask for a new link, or sign in another way.", "Ein Anmeldelink gilt einmal und für begrenzte Zeit. Bitten Sie um einen neuen, oder melden Sie sich anders an.")}</p>
${buttonLink(visits.href("/sign-in"), signInWord)}`,
    );

  /**
   * The choice of a first password, which leads back to the app that a person without an account came from.
   */
  function passwordPath(request: FastifyRequest, reply: FastifyReply): string {
    const next = nextPath(
      visits.base,
      Buffer.from(visits.cookie(request, "return") ?? "", "base64url").toString(),
    );
    if (next === null || !isAppRequest(parts, next)) return "/account/password";
    visits.setCookie(reply, "return", null);
    return `/account/password?next=${encodeURIComponent(next)}`;
  }

  /** A link proves only who reads the mail: an account with an authenticator app needs its code too. */
  async function askForCodeAfterLink(
    request: FastifyRequest,
    reply: FastifyReply,
    { proven, spaceId }: LinkProof,
  ): Promise<FastifyReply> {
    const { email = "" } = (await store.accounts.profile(proven.accountId, spaceId)) ?? {};
    return askForCode(parts, reply, {
      proven,
      email,
      next: visits.href(passwordPath(request, reply)),
      spaceId,
    });
  }

  app.get<WildcardRoute>("/link/*", async (request, reply) => {
    const text = request.params["*"];
    const link = isLinkText(text) ? await store.links.findOpen(linkDigest(text), clock.now()) : null;
    if (link === null) return sendUnusable(request, reply);
    const body = html`<p>${words("With this link you sign in without a password. It works once.", "Mit diesem Link melden Sie sich ohne Passwort an. Er gilt einmal.")}</p>
${postForm(visits.href(`/link/${text}`), visits.visitorToken(request, reply), signInWord)}
${parts.provider && otherWay(visits.href("/sign-in/single"), continueWith(parts.provider.label))}`;
    return sendPage(reply, visits, { title: words("Welcome", "Willkommen"), body });
  });

  app.post<WildcardRoute>("/link/*", async (request, reply) => {
    visits.visitorForm(request);
    const visit = {
      from: requestOrigin(parts, request),
      replaced: await findCurrentSession(parts, request, reply),
    };
    const session = await signInByLink(
      store.change,
      () => creationContext(parts),
      request.params["*"],
      visit,
    );
    if (session === null) return sendUnusable(request, reply);
    if ("proven" in session) return askForCodeAfterLink(request, reply, session);
    visits.setSession(reply, session.cookie);
    return sendRedirect(
      reply,
      visits.href(session.isFirst ? await parts.welcome() : passwordPath(request, reply)),
    );
  });
}
