import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { isLinkText, linkDigest } from "../core/sign-in/link.ts";
import type { LinkRequest } from "../core/sign-in/link-request.ts";
import { browserDigest, proveByMailedLink, signInAddress } from "../core/sign-in/mailed-link.ts";
import { isEmailAddress } from "../core/use-cases/invite-person.ts";
import { signInTarget } from "./entrance.ts";
import { enterOrAskForCode } from "./factors/second-step.ts";
import { alertMessage, field, hiddenField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { sendPage } from "./page.ts";
import { type ConsoleParts, queryText, requestOrigin } from "./parts.ts";

const path = "/sign-in/mail";

/** The page on which a person asks for a link, which leads to `next` after sign-in; null when people cannot ask for one. */
export const mailedLinkHref = ({ visits, mailLink }: Pick<ConsoleParts, "visits" | "mailLink">, next: string): string | null =>
  mailLink && `${visits.href(path)}?next=${encodeURIComponent(next)}`;

/** A wildcard of any length: Fastify refuses long named parameters, and not with a page. */
interface WildcardRoute {
  readonly Params: { readonly "*": string };
}

/**
 * `/sign-in/mail`: a person asks for a sign-in link by mail. The answer is the same for every address. GET of the link only shows a
 * button, so that mail scanners do not use it up; POST uses it, in the browser that asked (spec/decisions.md 142).
 */
export function mailedLinkRoutes(app: FastifyInstance, parts: ConsoleParts, mailLink: (request: LinkRequest) => void): void {
  const { visits, store, clock } = parts;

  /** The browser, by its cookie for forms before sign-in; null for a cookie that no page has set. */
  function browserOf(request: FastifyRequest): string | null {
    const secret = visits.cookie(request, "visitor") ?? "";
    return isLinkText(secret) ? browserDigest(secret) : null;
  }

  function form(request: FastifyRequest, reply: FastifyReply, next: string, wrong: string | null): FastifyReply {
    const body = html`<p>You get a link by mail that signs you in without a password.</p>
<form method="post" action="${visits.href(path)}">
${alertMessage(wrong)}${visits.visitorToken(request, reply)}${hiddenField("next", next)}
${field({ name: "email", label: "E-mail address", type: "email", autocomplete: "username", isInvalid: wrong !== null })}
<button type="submit">Send the link</button>
</form>
<p class="quiet small"><a href="${visits.signInHref(next)}">Sign in another way</a></p>`;
    return sendPage(reply, visits, { title: "Sign in by mail", body, status: wrong === null ? 200 : 400 });
  }

  app.get(path, async (request, reply) => form(request, reply, signInTarget(parts, queryText(request, "next")), null));

  app.post(path, async (request, reply) => {
    const sent = visits.visitorForm(request);
    const [next, email] = [signInTarget(parts, sent.text("next")), sent.text("email").trim().toLowerCase()];
    if (!isEmailAddress(email)) return form(request, reply, next, "This is not an e-mail address.");
    const browser = browserOf(request);
    if (browser === null) throw new Failure("permission_denied", "the browser has no cookie of these pages");
    await parts.countLink(email, requestOrigin(parts, request).address);
    const asked = { email, browser, next };
    // All that depends on the account comes after the answer, so its time shows nothing.
    reply.raw.once("close", () => mailLink(asked));
    const body = html`<p>If ${email} has an account, a mail is on its way. Open its link <strong>in this browser</strong>, within 15 minutes. It works once.</p>
<p class="quiet small">No mail? Look in the spam folder, and check the address. <a href="${mailedLinkHref(parts, next) ?? ""}">Ask again</a>, or <a href="${visits.signInHref(next)}">sign in another way</a>.</p>`;
    return sendPage(reply, visits, { title: "Check your mail", body });
  });

  async function sendUnusable(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const signedIn = await visits.currentSession(request, reply);
    const body = signedIn
      ? html`<p>A sign-in link works once. You are signed in as ${signedIn.email}.</p>
<p><a class="button" href="${signInTarget(parts, "")}">Continue</a></p>`
      : html`<p>A sign-in link works once, within 15 minutes. Ask for a new one, or sign in another way.</p>
<p><a class="button" href="${visits.href(path)}">Ask for a new link</a></p>
<p><a class="button secondary" href="${visits.href("/sign-in")}">Sign in another way</a></p>`;
    return sendPage(reply, visits, { status: 410, title: "This link is no longer valid", body });
  }

  const elsewhere = (next: string): Html =>
    html`<p>The link works only in the browser in which you requested it. Copy it, and open it there. It is still valid.</p>
<p>To sign in here, ask for a link in this browser.</p>
<p><a class="button" href="${mailedLinkHref(parts, next) ?? ""}">Ask for a link here</a></p>
<p class="quiet small">If you did not request a link, close this page: another person may have sent it to you.</p>`;

  app.get<WildcardRoute>(`${path}/*`, async (request, reply) => {
    const text = request.params["*"];
    const link = isLinkText(text) ? await store.mailedLinks.findOpen(linkDigest(text), clock.now()) : null;
    const email = link && (await signInAddress(store, link.accountId));
    if (link === null || email === null) return sendUnusable(request, reply);
    if (link.browser !== browserOf(request))
      return sendPage(reply, visits, { status: 403, title: "Open the link in the other browser", body: elsewhere(link.next) });
    const body = html`<p>You sign in as ${email}. The link works once.</p>
<form method="post" action="${visits.href(`${path}/${text}`)}">
${visits.visitorToken(request, reply)}
<button type="submit">Sign in</button>
</form>`;
    return sendPage(reply, visits, { title: "Sign in", body });
  });

  app.post<WildcardRoute>(`${path}/*`, async (request, reply) => {
    visits.visitorForm(request);
    const [text, browser] = [request.params["*"], browserOf(request)];
    const used = browser && (await store.change((tx) => proveByMailedLink(tx, clock.now(), text, browser)));
    return !used ? sendUnusable(request, reply) : enterOrAskForCode(parts, request, reply, { ...used, spaceId: null });
  });
}
