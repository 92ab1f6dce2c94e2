import type { FastifyRequest } from "fastify";
import { type Html, html, words } from "./html.ts";
import { queryText } from "./parts.ts";

const parameter = "notice";

/**
 * What a page says about the action that led to it. The web application has the same texts
 * (console/src/shell/notice.tsx).
 */
const notices = {
  "signed-out": words("You are signed out.", "Sie sind abgemeldet."),
  password: words(
    "Your new password is set. All your other sessions have ended.",
    "Ihr neues Passwort gilt. Alle Ihre anderen Sitzungen sind beendet.",
  ),
  security: words("Your change is saved.", "Ihre Änderung ist gespeichert."),
  "recovery-code": words(
    "You signed in with a recovery code, which is used up. Under sign-in and security you see how many are left.",
    "Sie haben sich mit einem Wiederherstellungscode angemeldet. Er ist verbraucht. Unter Anmeldung und Sicherheit sehen Sie, wie viele übrig sind.",
  ),
} as const;

type NoticeName = keyof typeof notices;

/** The path of a page that shows a notice once it is open. */
export function withNotice(path: string, name: NoticeName): string {
  return `${path}${path.includes("?") ? "&" : "?"}${parameter}=${name}`;
}

const isNotice = (name: string): name is NoticeName => Object.hasOwn(notices, name);

/** The notice that the address names; null if there is none. */
export function noticeOf(request: FastifyRequest): Html | null {
  const name = queryText(request, parameter);
  return isNotice(name) ? noticeMessage(notices[name]) : null;
}

/** A message above the content of a page, which screen readers announce. */
export const noticeMessage = (text: Html): Html => html`<p class="notice" role="status">${text}</p>`;
