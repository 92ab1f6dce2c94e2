import type { SignInSpace } from "../../core/sign-in/sign-in.ts";
import { spaceChoice } from "../entrance.ts";
import { html } from "../html.ts";
import { noticeMessage } from "../notice.ts";
import type { Page } from "../page.ts";
import { accountText, appName, type CommonContent, form, otherAccount, scopeList, targetOf, unusedDays } from "./consent-page.ts";

/** The content of the consent page of an unverified client. */
export interface UnverifiedPageContent extends CommonContent {
  /** The spaces in which the account may let it act. */
  readonly spaces: readonly SignInSpace[];
  /** The space of the session, which is selected at first. */
  readonly currentSpaceId: string;
}

/**
 * The page on which a user lets an unverified client act in one space (spec/oauth.md 16.3). What it is called, it says itself: the page
 * names the host that its document or its redirect has.
 */
export function unverifiedPage(content: UnverifiedPageContent): Page {
  const { request, account, appsHref, notice } = content;
  const { app, redirectUri, scopes } = request;
  const target = targetOf(redirectUri);
  const isHere = /^(?:127\.0\.0\.1|\[::1\]|localhost)(?::|$)/.test(target.name);
  const host = app.clientId.startsWith("https://") ? new URL(app.clientId).host : null;
  const body = html`${notice !== null && noticeMessage(notice)}<p>${appName(app)} wants to act for you.</p>
<p class="notice alert"><strong>Not verified.</strong> The operators of this server have not checked this app. ${
    host === null ? html`It registered itself and chose its name.` : html`It chose its name; it is published at <strong>${host}</strong>.`
  } Continue only if you have just connected it yourself${isHere && html`: any program on this computer can open this page`}.</p>
<dl>
${host !== null && html`<dt>Published at</dt><dd>${host}</dd>`}
<dt>Redirects to</dt><dd>${target.name}${isHere && html`, this computer`}</dd>
<dt>You</dt><dd>${accountText(account)}</dd>
</dl>
<h2>What it may do</h2>
<p>It uses the tools of this server for models (MCP), and nothing else. With them it may</p>
${scopeList(scopes)}
<h2>For how long</h2>
<p>Until you revoke it among <a href="${appsHref}">your apps</a> of the space, or it has not used it for ${unusedDays} days. Its tasks stay.</p>
${form(content, "Allow", spaceChoice(content.spaces, "Where it may act", content.currentSpaceId))}
${otherAccount(content)}`;
  return { title: `Allow ${app.name}?`, body, formAction: [target.formAction] };
}

/** For a client whose document cannot be used. @param why the rule that it breaks */
export const documentPage = (why: string): Page => ({
  status: 400,
  title: "This link does not work",
  body: html`<p>The link that you followed names an app by the address of a document, and this server cannot use the document.</p>
<p class="quiet">${why}</p>
<p>No access was granted. Go back to the app and report this to its operator.</p>`,
});

/** For an account all of whose spaces forbid unverified clients. */
export const forbiddenPage = (
  { request: { app }, switchHref }: Pick<CommonContent, "request" | "switchHref">,
  declinedHref: string,
): Page => ({
  status: 403,
  title: "You cannot allow this app",
  body: html`<p>${app.name} is not verified by this server, and the owner of your space does not allow such apps.</p>
<div class="actions"><a class="button" href="${declinedHref}">Back to the app</a><a class="button secondary" href="${switchHref}">Switch account</a></div>`,
});
