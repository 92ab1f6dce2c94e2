import type { AuthorizationRequest } from "../../core/oauth/authorization.ts";
import type { OAuthGrant } from "../../core/oauth/grant.ts";
import { type Html, html } from "../html.ts";
import type { Page } from "../page.ts";
import { appName, connectorChoice, scopeList, targetOf } from "./words.ts";

/** What a consent page tells. */
export interface Asked {
  readonly request: AuthorizationRequest;
  /** The living one; null where there is none. */
  readonly grant: OAuthGrant | null;
  readonly teamName: string;
  /** The account's name, and its address. */
  readonly account: { readonly name: string | null; readonly email: string };
  /** Where the form is sent. */
  readonly action: string;
  /** Where somebody else signs in, who is led back. */
  readonly switchHref: string;
  /** The form's hidden fields. */
  readonly fields: Html;
  /** Why the page is shown once more; null at first. */
  readonly notice: string | null;
}

/** The whole page: who asks, for what, as whom, and where the answer goes (contract/oauth.md 4, contract/decisions.md 28, 36). */
export function fullPage(asked: Asked): Page {
  const { app, scopes } = asked.request;
  const body = html`${noticeOf(asked)}<p>${appName(app)} wants to act for you in the team ${asked.teamName}.</p>
${app.description !== "" && html`<p class="quiet">${app.description}</p>`}
${facts(asked)}
<h2>What it may do</h2>
${scopeList(scopes)}
${form(asked, "Allow", scopes.includes("use_connectors") && app.connectorUids.length > 0 && connectorChoice(app, ticked(asked)))}
${otherAccount(asked)}`;
  return { title: `Allow ${app.name}?`, body, formAction: [targetOf(asked.request.redirectUri).formAction] };
}

/** One click, where nothing new is asked for: never none, so that no link alone makes a code. */
export function shortPage(asked: Asked): Page {
  const { app } = asked.request;
  const body = html`${noticeOf(asked)}<p>You have allowed ${appName(app)} before, and it asks for nothing new.</p>
${facts(asked)}
${form(asked, "Go on", false)}
${otherAccount(asked)}`;
  return { title: `Go on to ${app.name}?`, body, formAction: [targetOf(asked.request.redirectUri).formAction] };
}

const noticeOf = ({ notice }: Asked): Html | null => (notice === null ? null : html`<p class="notice" role="status">${notice}</p>`);

const facts = ({ teamName, account, request }: Asked): Html => html`<dl>
<dt>Team</dt><dd>${teamName}</dd>
<dt>You</dt><dd>${account.name && html`${account.name}, `}${account.email}</dd>
<dt>Leads to</dt><dd>${targetOf(request.redirectUri).name}</dd>
</dl>`;

const form = ({ action, fields }: Asked, yes: string, choice: Html | false): Html => html`<form method="post" action="${action}">
${fields}${choice}
<div class="actions"><button type="submit" name="decision" value="approve">${yes}</button><button class="secondary" type="submit" name="decision" value="decline">Decline</button></div>
</form>`;

const otherAccount = ({ switchHref }: Asked): Html => html`<p class="small"><a href="${switchHref}">Switch account</a></p>`;

/** All the first time that connectors are asked for, afterwards those that were granted. */
function ticked({ grant, request }: Asked): readonly string[] {
  return grant?.scopes.includes("use_connectors") ? grant.connectorUids : request.app.connectorUids;
}
