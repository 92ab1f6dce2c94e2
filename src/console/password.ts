import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { mayChoosePassword, setPassword } from "../core/sign-in/change-password.ts";
import { isNewPassword, passwordRule } from "../core/sign-in/password.ts";
import { hashPassword } from "../core/sign-in/password-hash.ts";
import type { SessionHolder } from "../core/sign-in/session.ts";
import { alert, field } from "./fields.ts";
import type { FormFields } from "./form.ts";
import { guard, provesByPassword } from "./guard.ts";
import { type Html, html } from "./html.ts";
import { sendPage, sendTo } from "./page.ts";
import { type ConsoleParts, fromOf, makingOf } from "./parts.ts";

/** `/account/password`: the first one after a one-time link, or another with the present one. */
export function passwordRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;
  const signedIn = guard(visits);

  async function show(request: FastifyRequest, reply: FastifyReply, who: SessionHolder, wrong: string | null): Promise<FastifyReply> {
    const free = await mayChoosePassword(store, who.session, clock.now());
    const has = (await store.signIns.password(who.session.accountId)) !== null;
    if (!free && !has) return sendTo(reply, visits.href(`/account/prove?next=${encodeURIComponent(visits.href("/account/password"))}`));
    const body = html`<p>${free ? "With a password you can sign in whenever you like." : "It is asked for when you sign in."} All your other sessions end.</p>
<form method="post" action="${visits.href("/account/password")}">
${alert(wrong)}${visits.sessionToken(request)}
<input type="hidden" name="username" autocomplete="username" value="${who.email}">
${!free && present(wrong !== null)}${chosen(wrong !== null)}
<button type="submit">${free ? "Choose this password" : "Change the password"}</button>
</form>
<p><a href="${visits.href("/account")}">${free ? "Not now" : "Back"}</a></p>`;
    return sendPage(reply, visits.base, {
      title: free ? "Choose a password" : "Change the password",
      body,
      status: wrong === null ? 200 : 400,
    });
  }

  /** What is wrong with a form that was sent, in words; null when nothing is. */
  async function fault(request: FastifyRequest, who: SessionHolder, form: FormFields): Promise<string | null> {
    const free = await mayChoosePassword(store, who.session, clock.now());
    if (!free && !(await provesByPassword(parts, request, who, form.text("old")))) return "The present password is another.";
    if (form.text("password") !== form.text("again")) return "The new passwords differ.";
    return isNewPassword(form.text("password")) ? null : `A password has ${passwordRule}.`;
  }

  app.get(
    "/account/password",
    signedIn((request, reply, who) => show(request, reply, who, null)),
  );

  app.post(
    "/account/password",
    signedIn(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const wrong = await fault(request, who, form);
      if (wrong !== null) return show(request, reply, who, wrong);
      const stored = await hashPassword(form.text("password"));
      await store.change((tx) => setPassword(tx, makingOf(parts), who.session, stored, fromOf(parts, request)));
      return sendTo(reply, visits.href("/account"));
    }),
  );
}

const present = (wrong: boolean): Html =>
  field({ name: "old", label: "Present password", type: "password", autocomplete: "current-password", wrong });

const chosen = (wrong: boolean): Html =>
  html`${field({ name: "password", label: "New password", type: "password", autocomplete: "new-password", hint: `${passwordRule}. A few words in a row are fine.`, wrong })}
${field({ name: "again", label: "New password, once more", type: "password", autocomplete: "new-password", wrong })}`;
