import { dangerousScope, type ScopeName } from "../../core/accounts/caller.ts";
import { parseUri } from "../../core/addresses/address.ts";
import { connectorById } from "../../core/connectors/catalogue.ts";
import type { OAuthApp } from "../../core/oauth/app.ts";
import type { AuthorizationRequest } from "../../core/oauth/authorization.ts";
import { declinedLocation } from "../../core/oauth/consent.ts";
import { refreshMs } from "../../core/oauth/family.ts";
import type { OAuthGrant } from "../../core/oauth/grant.ts";
import type { Authorization } from "../../oauth/authorize/request.ts";
import { type Html, html } from "../html.ts";
import { noticeMessage } from "../notice.ts";
import type { Page } from "../page.ts";

/** The permission of each scope, after "it may" (spec/oauth.md 2). The scopes with the most risk come first. */
const scopeTexts: Readonly<Record<ScopeName, string>> = {
  "approve:task": "approve actions that agents ask about, in your place: send mail, run commands, publish and pay",
  manage_all_tasks: "see, change and delete all of your tasks, including those that it did not create",
  use_my_browsers: "use your own browser through My Browser, with the sites where you are signed in",
  use_connectors: "use other services through the connectors that you choose",
  create_task: "create tasks for you, which use your credits, and see and delete the tasks that it created",
  create_project: "see your projects and create new ones",
};

/** What is bad about a scope, in one to four words. */
const dangers: Readonly<Record<string, string>> = {
  [dangerousScope]: "Dangerous: decides in your place",
  manage_all_tasks: "Can delete your tasks",
  create_task: "Can delete its own tasks",
};

const byRisk = Object.keys(scopeTexts);

/** A list of the scopes' permissions, ordered by risk; those that delete or decide are marked. */
export function scopeList(scopes: readonly ScopeName[]): Html {
  const ordered = scopes.toSorted((a, b) => byRisk.indexOf(a) - byRisk.indexOf(b));
  const mark = (name: ScopeName): Html | undefined | "" =>
    dangers[name] && html` <strong class="mark${name === dangerousScope && " danger"}">${dangers[name]}</strong>`;
  return html`<ul>${ordered.map((name) => html`<li>${scopeTexts[name]}${mark(name)}</li>`)}</ul>`;
}

/** A connector's name. */
export const connectorName = (uid: string): string => connectorById(uid)?.name ?? uid;

/** An app's connectors as checkboxes; the form sends each selected one as `connector`. */
export function connectorChoice(app: Pick<OAuthApp, "connectorUids">, selected: readonly string[]): Html {
  const boxes = app.connectorUids.map(
    (uid) =>
      html`<label class="choice"><input type="checkbox" name="connector" value="${uid}"${selected.includes(uid) && html` checked`}><span>${connectorName(uid)}</span></label>`,
  );
  return html`<fieldset><legend>Connectors that it may use</legend>${boxes}</fieldset>`;
}

/** An app's name, with a link if it has a homepage. The homepage gets no referrer and no access to this page. */
export const appName = ({ name, homepageUrl }: Pick<OAuthApp, "name" | "homepageUrl">): Html =>
  homepageUrl === ""
    ? html`<strong>${name}</strong>`
    : html`<a href="${homepageUrl}" rel="noopener noreferrer" target="_blank">${name}</a>`;

/** The target of the redirect: its host, or its scheme if another program handles it (spec/decisions.md 36). */
export interface Target {
  /** `app.example:8443`, or `com.example.app:`. */
  readonly name: string;
  /** The `form-action` source of the page's policy. */
  readonly formAction: string;
}

/** The target of a redirect URI that an app has registered. */
export function targetOf(redirectUri: string): Target {
  const uri = parseUri(redirectUri);
  // Registered URIs are valid; nothing is sent to an invalid one.
  if (typeof uri === "string") throw new Error("a registered redirect URI is invalid");
  const scheme = `${uri.scheme}:`;
  if (uri.scheme !== "http" && uri.scheme !== "https") return { name: scheme, formAction: scheme };
  const { host, hostname, origin } = new URL(redirectUri);
  // A policy cannot contain other hosts, for instance IPv6 addresses (CSP 3, 2.3.1).
  return { name: host, formAction: /^[a-z0-9.-]+$/.test(hostname) ? origin : scheme };
}

type Reason = Extract<Authorization, { kind: "page" }>["reason"];

const reasons: Readonly<Record<Reason, string>> = {
  client: "The link that you followed does not name a known app. The app may have been deleted.",
  redirect_uri: "The link that you followed contains a redirect address that the app has not registered.",
};

/** There is no redirect for an invalid client or redirect URI (spec/decisions.md 27). */
export const unknownPage = (reason: Reason): Page => ({
  status: 400,
  title: "This link does not work",
  body: html`<p>${reasons[reason]}</p><p>No access was granted. Go back to the app and report this to its operator.</p>`,
});

/** For a user who is not an active member of the app's team (spec/oauth.md 4). */
export const outsiderPage = (request: AuthorizationRequest, email: string, switchHref: string): Page => ({
  status: 403,
  title: "You cannot allow this app",
  body: html`<p>${request.app.name} is for members of one team, and ${email} is not an active member of it.</p>
<div class="actions"><a class="button" href="${declinedLocation(request)}">Back to the app</a><a class="button secondary" href="${switchHref}">Switch account</a></div>`,
});

/** A code is issued only once; a user who did not reach the app starts again. @param href the same request. */
export const usedPage = (request: AuthorizationRequest, href: string): Page => ({
  status: 409,
  title: "You have already allowed this",
  body: html`<p>This page has already been submitted, and ${request.app.name} got its answer. If you did not return to the app, start again.</p>
<p><a class="button" href="${href}">Start again</a></p>`,
});

/** For a request that is too long to keep during sign-in. @param href the same request. */
export const signInFirstPage = (signInHref: string, href: string): Page => ({
  title: "Please sign in first",
  body: html`<p>Sign in on another page, then return to this page and continue.</p>
<div class="actions"><a class="button" href="${signInHref}" rel="noopener" target="_blank">Sign in</a><a class="button secondary" href="${href}">Continue</a></div>`,
});

/** What every consent page has. */
export interface CommonContent {
  readonly request: AuthorizationRequest;
  /** The page on which the user can revoke the access. */
  readonly appsHref: string;
  /** The account's name, and its address. */
  readonly account: { readonly name: string | null; readonly email: string };
  /** The form's target. */
  readonly action: string;
  /** The sign-in page for another account, which leads back to this page. */
  readonly switchHref: string;
  /** The form's hidden fields. */
  readonly fields: Html;
  /** Why the page is shown again; null at first. */
  readonly notice: string | null;
}

/** The content of the consent page of a team's app. */
export interface ConsentPageContent extends CommonContent {
  /** The active grant; null if there is none. */
  readonly grant: OAuthGrant | null;
  readonly teamName: string;
  /** Who registered the app: the name or address of its creator; null if the account is deleted. */
  readonly maker: string | null;
}

/** The full page: the app, the scopes, the account, and the target of the redirect (spec/oauth.md 4, spec/decisions.md 28, 36). */
export function fullPage(content: ConsentPageContent): Page {
  const { app, scopes } = content.request;
  const body = html`${content.notice !== null && noticeMessage(content.notice)}<p>${appName(app)} wants to act for you in the team ${content.teamName}.</p>
${app.description !== "" && html`<p class="quiet">${app.description}</p>`}
${factList(content)}
<h2>What it may do</h2>
${scopeList(scopes)}
${duration(content)}
${form(content, "Allow", scopes.includes("use_connectors") && app.connectorUids.length > 0 && connectorChoice(app, selectedConnectors(content)))}
${otherAccount(content)}`;
  return { title: `Allow ${app.name}?`, body, formAction: [targetOf(content.request.redirectUri).formAction] };
}

/** One click if nothing new is requested. At least one click, so that a link alone cannot issue a code. */
export function shortPage(content: ConsentPageContent): Page {
  const { app } = content.request;
  const body = html`${content.notice !== null && noticeMessage(content.notice)}<p>You have already allowed ${appName(app)}, and it requests nothing new.</p>
${factList(content)}
${form(content, "Continue", false)}
${otherAccount(content)}`;
  return { title: `Continue to ${app.name}?`, body, formAction: [targetOf(content.request.redirectUri).formAction] };
}

/** For how many days an unused authorization lasts. */
export const unusedDays = refreshMs / (24 * 3_600_000);

/** For how long an app has access, and how to end it. */
const duration = ({ appsHref, request: { app } }: ConsentPageContent): Html => html`<h2>For how long</h2>
<p>Until you revoke it. When ${app.name} has not used it for ${unusedDays} days, it must ask you again. You can <a href="${appsHref}">revoke it</a> at any time: the app then loses its access at once, and its tasks stay.</p>`;

/** An account's name, and its address. */
export const accountText = ({ name, email }: CommonContent["account"]): Html => html`${name && html`${name}, `}${email}`;

const factList = ({ teamName, maker, account, request }: ConsentPageContent): Html => html`<dl>
${maker !== null && html`<dt>Made by</dt><dd>${maker}</dd>`}
<dt>Team</dt><dd>${teamName}</dd>
<dt>You</dt><dd>${accountText(account)}</dd>
<dt>Redirects to</dt><dd>${targetOf(request.redirectUri).name}</dd>
</dl>`;

/** The form of a consent page, with its two decisions. */
export const form = (
  { action, fields }: Pick<CommonContent, "action" | "fields">,
  approveLabel: string,
  choice: Html | false,
  declineLabel = "Decline",
): Html => html`<form method="post" action="${action}">
${fields}${choice}
<div class="actions"><button type="submit" name="decision" value="approve">${approveLabel}</button><button class="secondary" type="submit" name="decision" value="decline">${declineLabel}</button></div>
</form>`;

/** A link to the page for another account. */
export const otherAccount = ({ switchHref }: Pick<CommonContent, "switchHref">): Html =>
  html`<p class="small"><a href="${switchHref}">Switch account</a></p>`;

/** All connectors the first time that they are requested; later, the granted ones. */
function selectedConnectors({ grant, request }: ConsentPageContent): readonly string[] {
  return grant?.scopes.includes("use_connectors") ? grant.connectorUids : request.app.connectorUids;
}
