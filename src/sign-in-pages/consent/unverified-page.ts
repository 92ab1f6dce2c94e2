import type { SignInSpace } from "../../core/sign-in/sign-in.ts";
import type { Authorization } from "../../oauth/authorize/request.ts";
import { spaceChoice } from "../entrance.ts";
import { html, words } from "../html.ts";
import { noticeMessage } from "../notice.ts";
import type { Page } from "../page.ts";
import { switchAccount } from "../words.ts";
import { thisComputer } from "./cli-page.ts";
import {
  accountText,
  allowTitle,
  allowWord,
  appName,
  backToApp,
  brokenLinkTitle,
  type CommonContent,
  cannotAllowTitle,
  factList,
  form,
  nothingGranted,
  otherAccount,
  permissions,
  redirectsTo,
  targetOf,
  untilRevoked,
  whereItMayAct,
  youWord,
} from "./consent-page.ts";

export interface UnverifiedPageContent extends CommonContent {
  /** The spaces in which the account may let it act. */
  readonly spaces: readonly SignInSpace[];
  /** The space of the session, which is selected at first. */
  readonly currentSpaceId: string;
}

/**
 * The page on which a user lets an unverified client act in one space (spec/oauth.md 16.3). What it is
 * called, it says itself: the page names the host that its document or its redirect has.
 */
export function unverifiedPage(content: UnverifiedPageContent): Page {
  const { request, account, appsHref, notice } = content;
  const { app, redirectUri, scopes } = request;
  const target = targetOf(redirectUri);
  const isHere = /^(?:127\.0\.0\.1|\[::1\]|localhost)(?::|$)/.test(target.name);
  const host = app.clientId.startsWith("https://") ? new URL(app.clientId).host : null;
  const body = html`${notice !== null && noticeMessage(notice)}<p>${words(html`${appName(app)} wants to act for you.`, html`${appName(app)} möchte für Sie handeln.`)}</p>
<p class="notice alert"><strong>${words("Not verified.", "Nicht geprüft.")}</strong> ${words("The operators of this server have not checked this app.", "Die Betreiber dieses Servers haben diese App nicht geprüft.")} ${
    host === null
      ? words(
          "It registered itself and chose its name.",
          "Sie hat sich selbst registriert und ihren Namen gewählt.",
        )
      : words(
          html`It chose its name; it is published at <strong>${host}</strong>.`,
          html`Sie hat ihren Namen gewählt; veröffentlicht ist sie bei <strong>${host}</strong>.`,
        )
  } ${words("Continue only if you have just connected it yourself", "Fahren Sie nur fort, wenn Sie sie gerade selbst verbunden haben")}${isHere && words(": any program on this computer can open this page", ": jedes Programm auf diesem Computer kann diese Seite öffnen")}.</p>
${factList(
  host !== null && [words("Published at", "Veröffentlicht bei"), host],
  [redirectsTo, html`${target.name}${isHere && thisComputer}`],
  [youWord, accountText(account)],
)}
${permissions(scopes, untilRevoked(appsHref), html`<p>${words("It uses the tools of this server for models (MCP), and nothing else. With them it may", "Sie benutzt die Werkzeuge dieses Servers für Modelle (MCP) und nichts anderes. Damit darf sie")}</p>`)}
${form(content, allowWord, spaceChoice(content.spaces, whereItMayAct, content.currentSpaceId))}
${otherAccount(content)}`;
  return { title: allowTitle(app), body, formAction: [target.formAction] };
}

/** For a client whose document cannot be used. @param why the rule that it breaks */
export const documentPage = (why: string): Page => ({
  status: 400,
  title: brokenLinkTitle,
  body: html`<p>${words(
    "The link that you followed names an app by the address of a document, and this server cannot use the document.",
    "Der Link nennt eine App durch die Adresse eines Dokuments, und dieser Server kann das Dokument nicht benutzen.",
  )}</p>
<p class="quiet" lang="en">${why}</p>
<p>${nothingGranted}</p>`,
});

/** For a request with an error. The address of a client that was not checked is text, not a link. */
export const refusedPage = ({
  redirectUri,
  description,
}: Extract<Authorization, { kind: "refused" }>): Page => ({
  status: 400,
  title: brokenLinkTitle,
  body: html`<p>${words(
    "The request of the app has an error. The app is not verified by this server, so the server does not lead you to its address:",
    "Die Anfrage der App hat einen Fehler. Die App ist von diesem Server nicht geprüft. Daher leitet er Sie nicht an ihre Adresse weiter:",
  )}</p>
<p><code>${redirectUri}</code></p>
<p class="quiet" lang="en">${description}</p>
<p>${nothingGranted}</p>`,
});

/** For an account all of whose spaces forbid unverified clients. */
export const forbiddenPage = (
  { request: { app }, switchHref }: Pick<CommonContent, "request" | "switchHref">,
  declinedHref: string,
): Page => ({
  status: 403,
  title: cannotAllowTitle,
  body: html`<p>${words(
    `${app.name} is not verified by this server, and the owner of your space does not allow such apps.`,
    `${app.name} ist von diesem Server nicht geprüft, und der Inhaber Ihres Bereichs erlaubt solche Apps nicht.`,
  )}</p>
<div class="actions"><a class="button" href="${declinedHref}">${backToApp}</a><a class="button secondary" href="${switchHref}">${switchAccount}</a></div>`,
});
