import type { SignInSpace } from "../../core/sign-in/sign-in.ts";
import { type Html, html } from "../html.ts";
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
<p class="notice">Continue only if you have just run <code>atp login</code> in a terminal. Other programs on this computer can open this page too.</p>
<dl>
<dt>You</dt><dd>${accountText(account)}</dd>
<dt>Redirects to</dt><dd>${target.name}, this computer</dd>
</dl>
<h2>What it may do</h2>
${scopeList(request.scopes)}
<h2>For how long</h2>
<p>Until you run <code>atp logout</code>, <a href="${appsHref}">revoke it</a>, or do not use it for ${unusedDays} days. Its tasks stay.</p>
${form(content, "Allow", spaceChoice(content))}
${otherAccount(content)}`;
  return { title: "Sign in the command line?", body, formAction: [target.formAction] };
}

/** The spaces as radio buttons; the form sends the selected one as `space`. */
function spaceChoice({ spaces, currentSpaceId }: CliPageContent): Html {
  const selected = spaces.some(({ spaceId }) => spaceId === currentSpaceId) ? currentSpaceId : spaces[0]?.spaceId;
  const choices = spaces.map(
    ({ spaceId, team }) =>
      html`<label class="choice"><input type="radio" name="space" value="${spaceId}" required${spaceId === selected && html` checked`}><span>${team === null ? "Your personal space" : html`${team.name} <span class="quiet small">${team.role.replaceAll("_", " ")}</span>`}</span></label>`,
  );
  return html`<fieldset><legend>Where it may act</legend>${choices}</fieldset>`;
}
