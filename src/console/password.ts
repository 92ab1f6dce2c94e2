import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hashPassword, isNewPassword, mayChoosePassword, passwordRule, setPassword } from "../core/sign-in/password.ts";
import type { SessionHolder } from "../core/sign-in/sign-in.ts";
import { authorizePath } from "./consent/approval.ts";
import { signInTarget } from "./entrance.ts";
import { alertMessage, type FormFields, field, hiddenField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { withNotice } from "./notice.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { type ConsoleParts, creationContext, queryText, requestOrigin, requireSignIn, verifyOwnPassword } from "./parts.ts";

/** A form with the page that follows it, and what was wrong with the last attempt. */
interface Shown {
  readonly next: string;
  readonly wrong: string | null;
}

/** `/account/password`: sets the first password after a one-time link, or changes it with the current one. */
export function passwordRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;
  const signedIn = requireSignIn(visits);
  const passwordHref = (next: string): string => `${visits.href("/account/password")}?next=${encodeURIComponent(next)}`;

  async function show(request: FastifyRequest, reply: FastifyReply, who: SessionHolder, { next, wrong }: Shown): Promise<FastifyReply> {
    const mayChoose = await mayChoosePassword(store, who.session, clock.now());
    const hasPassword = (await store.signIns.password(who.session.accountId)) !== null;
    if (!mayChoose && !hasPassword)
      return sendRedirect(reply, visits.href(`/account/prove?next=${encodeURIComponent(passwordHref(next))}`));
    const body = html`<p>${mayChoose ? "With a password you can sign in at any time." : "You need the password to sign in."} All your other sessions will end.</p>
<form method="post" action="${visits.href("/account/password")}">
${alertMessage(wrong)}${visits.sessionToken(request)}${hiddenField("next", next)}
<input type="hidden" name="username" autocomplete="username" value="${who.email}">
${!mayChoose && currentPasswordField(wrong !== null)}${newPasswordFields(wrong !== null)}
<button type="submit">${mayChoose ? "Choose this password" : "Change the password"}</button>
</form>
<p><a href="${next}">${mayChoose ? "Not now" : "Back"}</a></p>`;
    return sendPage(reply, visits, {
      title: mayChoose ? "Choose a password" : "Change the password",
      body,
      status: wrong === null ? 200 : 400,
    });
  }

  /** The error message for a submitted form; null if it is valid. */
  async function formError(request: FastifyRequest, who: SessionHolder, form: FormFields): Promise<string | null> {
    const mayChoose = await mayChoosePassword(store, who.session, clock.now());
    if (!mayChoose && !(await verifyOwnPassword(parts, request, who, form.text("old")))) return "The current password is wrong.";
    if (form.text("password") !== form.text("again")) return "The new passwords do not match.";
    return isNewPassword(form.text("password")) ? null : `A password must have ${passwordRule}.`;
  }

  app.get(
    "/account/password",
    signedIn((request, reply, who) => show(request, reply, who, { next: signInTarget(parts, queryText(request, "next")), wrong: null })),
  );

  app.post(
    "/account/password",
    signedIn(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const wrong = await formError(request, who, form);
      const next = signInTarget(parts, form.text("next"));
      if (wrong !== null) return show(request, reply, who, { next, wrong });
      const stored = await hashPassword(form.text("password"));
      await store.change((tx) => setPassword(tx, creationContext(parts), who.session, stored, requestOrigin(parts, request)));
      return sendRedirect(reply, afterPassword(next));
    }),
  );

  /** A request of an app must stay as the app sent it. */
  const afterPassword = (next: string): string => (next.startsWith(visits.href(authorizePath)) ? next : withNotice(next, "password"));
}

const currentPasswordField = (wrong: boolean): Html =>
  field({ name: "old", label: "Current password", type: "password", autocomplete: "current-password", isInvalid: wrong });

const newPasswordFields = (wrong: boolean): Html =>
  html`${field({ name: "password", label: "New password", type: "password", autocomplete: "new-password", hint: `${passwordRule}. You can use several words.`, isInvalid: wrong })}
${field({ name: "again", label: "Repeat new password", type: "password", autocomplete: "new-password", isInvalid: wrong })}`;
