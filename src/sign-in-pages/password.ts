import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  hashPassword,
  isNewPassword,
  mayChoosePassword,
  passwordLength,
  setPassword,
} from "../core/sign-in/password.ts";
import type { SessionHolder } from "../core/sign-in/sign-in.ts";
import { authorizePath } from "./consent/approval.ts";
import { signInTarget } from "./entrance.ts";
import { alertMessage, type FormFields, field, hiddenField, postForm } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { rememberAccount } from "./known-browser.ts";
import { withNotice } from "./notice.ts";
import { sendPage, sendRedirect } from "./page.ts";
import {
  type ConsoleParts,
  creationContext,
  queryText,
  requestOrigin,
  requireSignIn,
  verifyOwnPassword,
} from "./parts.ts";
import { backWord, changePassword, choosePassword, otherSessionsEnd } from "./words.ts";

const { min, max } = passwordLength;
const rule = `${min} to ${max} characters`;
const ruleDe = `${min} bis ${max} Zeichen`;
const hint = words(`${rule}. You can use several words.`, `${ruleDe}. Mehrere Wörter sind möglich.`);
const path = "/account/password";

/** A form with the page that follows it, and what was wrong with the last attempt. */
interface Shown {
  readonly next: string;
  readonly wrong: Html | null;
}

/** `/account/password`: sets the first password after a one-time link, or changes it with the current one. */
export function passwordRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock } = parts;
  const signedIn = requireSignIn(visits);

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    who: SessionHolder,
    { next, wrong }: Shown,
  ): Promise<FastifyReply> {
    const mayChoose = await mayChoosePassword(store, who.session, clock.now());
    const hasPassword = (await store.signIns.password(who.session.accountId)) !== null;
    if (!mayChoose && !hasPassword)
      return sendRedirect(reply, visits.href("/account/prove", visits.href(path, next)));
    const isInvalid = wrong !== null;
    const fields = [
      alertMessage(wrong),
      visits.sessionToken(request),
      hiddenField("next", next),
      html`<input type="hidden" name="username" autocomplete="username" value="${who.email}">`,
      !mayChoose &&
        field({
          name: "old",
          label: words("Current password", "Jetziges Passwort"),
          autocomplete: "current-password",
          isInvalid,
        }),
      field({
        name: "password",
        label: words("New password", "Neues Passwort"),
        autocomplete: "new-password",
        hint,
        isInvalid,
      }),
      field({
        name: "again",
        label: words("Repeat new password", "Neues Passwort wiederholen"),
        autocomplete: "new-password",
        isInvalid,
      }),
    ];
    const body = html`<p>${mayChoose ? words("With a password you can sign in at any time.", "Mit einem Passwort können Sie sich jederzeit anmelden.") : words("You need the password to sign in.", "Sie brauchen das Passwort für die Anmeldung.")} ${otherSessionsEnd}</p>
${postForm(visits.href(path), fields, mayChoose ? words("Choose this password", "Dieses Passwort wählen") : changePassword)}
<p><a href="${next}">${mayChoose ? words("Not now", "Nicht jetzt") : backWord}</a></p>`;
    return sendPage(reply, visits, {
      title: mayChoose ? choosePassword : changePassword,
      body,
      status: wrong === null ? 200 : 400,
    });
  }

  /** The error message for a submitted form; null if it is valid. */
  async function formError(
    request: FastifyRequest,
    who: SessionHolder,
    form: FormFields,
  ): Promise<Html | null> {
    const mayChoose = await mayChoosePassword(store, who.session, clock.now());
    if (!mayChoose && !(await verifyOwnPassword(parts, request, who, form.text("old"))))
      return words("The current password is wrong.", "Das jetzige Passwort ist falsch.");
    if (form.text("password") !== form.text("again"))
      return words("The new passwords do not match.", "Die neuen Passwörter sind verschieden.");
    return isNewPassword(form.text("password"))
      ? null
      : words(`A password must have ${rule}.`, `Ein Passwort hat ${ruleDe}.`);
  }

  app.get(
    path,
    signedIn((request, reply, who) =>
      show(request, reply, who, { next: signInTarget(parts, queryText(request, "next")), wrong: null }),
    ),
  );

  app.post(
    path,
    signedIn(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const wrong = await formError(request, who, form);
      const next = signInTarget(parts, form.text("next"));
      if (wrong !== null) return show(request, reply, who, { next, wrong });
      const stored = await hashPassword(form.text("password"), { account: who.session.accountId });
      await store.change((tx) =>
        setPassword(tx, creationContext(parts), who.session, stored, requestOrigin(parts, request)),
      );
      rememberAccount(parts, request, reply, who.session.accountId);
      return sendRedirect(reply, afterPassword(next));
    }),
  );

  /** A request of an app must stay as the app sent it. */
  const afterPassword = (next: string): string =>
    next.startsWith(visits.href(authorizePath)) ? next : withNotice(next, "password");
}
