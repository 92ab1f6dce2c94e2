import type { SignInSpace } from "../../core/sign-in/sign-in.ts";
import { spaceChoice } from "../entrance.ts";
import { html } from "../html.ts";
import { noticeMessage } from "../notice.ts";
import type { Page } from "../page.ts";
import { accountText, type CommonContent, form, otherAccount, scopeList, targetOf, unusedDays } from "./consent-page.ts";

/** The content of the consent page of the command line. */
export interface CliPageContent extends CommonContent {
  /** The spaces in which the account may act. */
  readonly spaces: readonly SignInSpace[];
  /** The space of the session, which is selected at first. */
  readonly currentSpaceId: string;
}

/**
 * The page on which a user lets the command line act in one space (spec/oauth.md 14). It says that a program on this computer asks:
 * every program there can send this request (RFC 8252 8.6).
 */
export function cliPage(content: CliPageContent): Page {
  const { request, account, appsHref, notice } = content;
  const target = targetOf(request.redirectUri);
  const body = html`${notice !== null && noticeMessage(notice)}<p>A program on this computer, the command line <code>atp</code>, wants to act for you.</p>
<p class="notice">Continue only if you have just run <code>atp&nbsp;login</code> in a terminal. Other programs on this computer can open this page too.</p>
<dl>
<dt>You</dt><dd>${accountText(account)}</dd>
<dt>Redirects to</dt><dd>${target.name}, this computer</dd>
</dl>
<h2>What it may do</h2>
${scopeList(request.scopes)}
<h2>For how long</h2>
<p>Until you run <code>atp&nbsp;logout</code>, revoke it among <a href="${appsHref}">your apps</a> of the space, or have not used it for ${unusedDays} days. Its tasks stay.</p>
${form(content, "Allow", spaceChoice(content.spaces, "Where it may act", content.currentSpaceId))}
${otherAccount(content)}`;
  return { title: "Sign in the command line?", body, formAction: [target.formAction] };
}
