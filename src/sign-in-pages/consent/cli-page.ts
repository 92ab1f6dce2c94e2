import type { SignInSpace } from "../../core/sign-in/sign-in.ts";
import { spaceChoice } from "../entrance.ts";
import { html, words } from "../html.ts";
import { noticeMessage } from "../notice.ts";
import type { Page } from "../page.ts";
import {
  accountText,
  allowWord,
  type CommonContent,
  factList,
  form,
  otherAccount,
  permissions,
  redirectsTo,
  targetOf,
  unusedDays,
  whereItMayAct,
  youWord,
} from "./consent-page.ts";

/** After the target of a redirect. */
export const thisComputer = words(", this computer", ", dieser Computer");

/** The content of the consent page of the command line. */
export interface CliPageContent extends CommonContent {
  /** The spaces in which the account may act. */
  readonly spaces: readonly SignInSpace[];
  /** The space of the session, which is selected at first. */
  readonly currentSpaceId: string;
}

/**
 * The page on which a user lets the command line act in one space (spec/oauth.md 14). It says that a program
 * on this computer asks: every program there can send this request (RFC 8252 8.6).
 */
export function cliPage(content: CliPageContent): Page {
  const { request, account, appsHref, notice } = content;
  const target = targetOf(request.redirectUri);
  const body = html`${notice !== null && noticeMessage(notice)}<p>${words(
    html`A program on this computer, the command line <code>atp</code>, wants to act for you.`,
    html`Ein Programm auf diesem Computer, die Kommandozeile <code>atp</code>, möchte für Sie handeln.`,
  )}</p>
<p class="notice">${words(
    html`Continue only if you have just run <code>atp&nbsp;login</code> in a terminal. Other programs on this computer can open this page too.`,
    html`Fahren Sie nur fort, wenn Sie gerade <code>atp&nbsp;login</code> in einem Terminal ausgeführt haben. Auch andere Programme auf diesem Computer können diese Seite öffnen.`,
  )}</p>
${factList([youWord, accountText(account)], [redirectsTo, html`${target.name}${thisComputer}`])}
${permissions(
  request.scopes,
  words(
    html`Until you run <code>atp&nbsp;logout</code>, revoke it among <a href="${appsHref}">your apps</a> of the space, or have not used it for ${unusedDays} days. Its tasks stay.`,
    html`Bis Sie <code>atp&nbsp;logout</code> ausführen, es unter <a href="${appsHref}">Ihren Apps</a> des Bereichs widerrufen oder es ${unusedDays} Tage nicht benutzen. Ihre Aufgaben bleiben.`,
  ),
)}
${form(content, allowWord, spaceChoice(content.spaces, whereItMayAct, content.currentSpaceId))}
${otherAccount(content)}`;
  return {
    title: words("Sign in the command line?", "Kommandozeile anmelden?"),
    body,
    formAction: [target.formAction],
  };
}
