import type { FastifyInstance, FastifyReply } from "fastify";
import { signInByLink } from "../core/sign-in/by-link.ts";
import { isLinkText, linkDigest } from "../core/sign-in/link.ts";
import { before } from "./entrance.ts";
import { html } from "./html.ts";
import { sendPage, sendTo } from "./page.ts";
import { type ConsoleParts, fromOf, makingOf } from "./parts.ts";

/** A parameter of any length: one with a name would be refused when it is long, and not as a page. */
interface Wild {
  readonly Params: { readonly "*": string };
}

/** `/link/…`: a GET only shows a button, so that whoever looks into mails does not use the link up; the POST does. */
export function linkRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;

  const dead = (reply: FastifyReply): FastifyReply =>
    sendPage(reply, visits.base, {
      status: 410,
      title: "This link is no longer good",
      body: html`<p>A sign-in link works once, within 24 hours. Ask for a fresh one, or sign in another way.</p>
<p><a class="button" href="${visits.href("/sign-in")}">Sign in</a></p>`,
    });

  app.get<Wild>("/link/*", async (request, reply) => {
    const text = request.params["*"];
    const link = isLinkText(text) ? await store.links.open(linkDigest(text), clock.now()) : null;
    if (link === null) return dead(reply);
    const body = html`<p>With this link you sign in without a password. It works once.</p>
<form method="post" action="${visits.href(`/link/${text}`)}">
${visits.visitorToken(request, reply)}
<button type="submit">Sign in</button>
</form>
${parts.provider && html`<p class="or">or</p><p><a class="button secondary" href="${visits.href("/sign-in/single")}">Continue with ${parts.provider.label}</a></p>`}`;
    return sendPage(reply, visits.base, { title: "Welcome", body });
  });

  app.post<Wild>("/link/*", async (request, reply) => {
    visits.visitorForm(request);
    const visit = { from: fromOf(parts, request), replaced: await before(parts, request, reply) };
    const session = await signInByLink(store.change, () => makingOf(parts), request.params["*"], visit);
    if (session === null) return dead(reply);
    visits.giveSession(reply, session);
    return sendTo(reply, visits.href("/account/password"));
  });
}
