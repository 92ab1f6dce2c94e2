import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { auditSession } from "../core/sign-in/enter.ts";
import type { SessionHolder } from "../core/sign-in/session.ts";
import { destination } from "./entrance.ts";
import { alert, field, hidden } from "./fields.ts";
import { guard, provesByPassword } from "./guard.ts";
import { type Html, html } from "./html.ts";
import { sendPage, sendTo } from "./page.ts";
import { type ConsoleParts, fromOf, makingOf, queryText } from "./parts.ts";

/** `/account/prove`: who is signed in proves once more who they are, before something important (contract/decisions.md 7). */
export function proveRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;
  const signedIn = guard(visits);

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { session }: SessionHolder,
    { next, wrong }: { readonly next: string; readonly wrong: string | null },
  ): Promise<FastifyReply> {
    const has = (await store.signIns.password(session.accountId)) !== null;
    const body = html`<p>What you are about to do is important. Please prove once more who you are.</p>
${has && form(request, next, wrong)}
${parts.provider && single(parts.provider.label, next)}
${!has && !parts.provider && html`<p>You have no password yet. Ask whoever runs this installation for a fresh sign-in link.</p>`}`;
    return sendPage(reply, visits.base, { title: "Is it you?", body, status: wrong === null ? 200 : 401 });
  }

  const form = (
    request: FastifyRequest,
    next: string,
    wrong: string | null,
  ): Html => html`<form method="post" action="${visits.href("/account/prove")}">
${alert(wrong)}${visits.sessionToken(request)}${hidden("next", next)}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password", wrong: wrong !== null })}
<button type="submit">Go on</button>
</form>`;

  const single = (label: string, next: string): Html =>
    html`<p class="or">or</p><p><a class="button secondary" href="${visits.href("/account/prove/single")}?next=${encodeURIComponent(next)}">Continue with ${label}</a></p>`;

  app.get(
    "/account/prove",
    signedIn((request, reply, who) => show(request, reply, who, { next: destination(parts, queryText(request, "next")), wrong: null })),
  );

  app.post(
    "/account/prove",
    signedIn(async (request, reply, who) => {
      const sent = visits.sessionForm(request);
      const next = destination(parts, sent.text("next"));
      const proves = await provesByPassword(parts, request, who, sent.text("password"));
      if (!proves) return show(request, reply, who, { next, wrong: "That is not your password." });
      await store.change(async (tx) => {
        await tx.sessions.prove(who.session.id, clock.now());
        await auditSession(tx, makingOf(parts), who.session, fromOf(parts, request), "Reauthenticate", { by: "password" });
      });
      return sendTo(reply, next);
    }),
  );
}
