import { dangerousScope, type ScopeName } from "../../core/accounts/caller.ts";
import { parseUri } from "../../core/addresses/address.ts";
import { connectorById } from "../../core/connectors/catalogue.ts";
import type { OAuthApp } from "../../core/oauth/app.ts";
import type { AuthorizationRequest } from "../../core/oauth/authorization.ts";
import { declinedLocation } from "../../core/oauth/consent.ts";
import { refreshMs } from "../../core/oauth/family.ts";
import type { OAuthGrant } from "../../core/oauth/grant.ts";
import type { Authorization } from "../../oauth/authorize/request.ts";
import { buttonLink } from "../form.ts";
import { type Html, html, type Part, words } from "../html.ts";
import { noticeMessage } from "../notice.ts";
import type { Page } from "../page.ts";
import { continueWord, signInWord, startAgain, switchAccount } from "../words.ts";

/**
 * The permission of each scope, after "it may" (spec/oauth.md 2). The scopes with the most risk come first.
 */
const scopeTexts: Readonly<Record<ScopeName, Html>> = {
  "approve:task": words(
    "approve actions that agents ask about, in your place: send mail, run commands, publish and pay",
    "an Ihrer Stelle genehmigen, wonach Agenten fragen: E-Mails senden, Befehle ausführen, veröffentlichen und zahlen",
  ),
  manage_all_tasks: words(
    "see, change and delete all of your tasks, including those that it did not create",
    "alle Ihre Aufgaben sehen, ändern und löschen, auch die, die sie nicht erstellt hat",
  ),
  use_my_browsers: words(
    "use your own browser through My Browser, with the sites where you are signed in",
    "Ihren eigenen Browser über My Browser benutzen, mit den Seiten, auf denen Sie angemeldet sind",
  ),
  use_connectors: words(
    "use other services through the connectors that you choose",
    "andere Dienste über die Konnektoren benutzen, die Sie wählen",
  ),
  create_task: words(
    "create tasks for you, which use your credits, and see and delete the tasks that it created",
    "Aufgaben für Sie erstellen, die Ihr Guthaben verbrauchen, und die von ihr erstellten Aufgaben sehen und löschen",
  ),
  create_project: words("see your projects and create new ones", "Ihre Projekte sehen und neue erstellen"),
  email: words("see your e-mail address", "Ihre E-Mail-Adresse sehen"),
  profile: words("see your name", "Ihren Namen sehen"),
};

/** What is bad about a scope, in one to four words. */
const dangers: Readonly<Record<string, Html>> = {
  [dangerousScope]: words("Dangerous: decides in your place", "Gefährlich: entscheidet an Ihrer Stelle"),
  manage_all_tasks: words("Can delete your tasks", "Kann Ihre Aufgaben löschen"),
  create_task: words("Can delete its own tasks", "Kann eigene Aufgaben löschen"),
};

const byRisk = Object.keys(scopeTexts);

/** A list of the scopes' permissions, ordered by risk; those that delete or decide are marked. */
export function scopeList(scopes: readonly ScopeName[]): Html {
  const ordered = scopes.toSorted((a, b) => byRisk.indexOf(a) - byRisk.indexOf(b));
  const mark = (name: ScopeName): Html | undefined =>
    dangers[name] &&
    html` <strong class="mark${name === dangerousScope && " danger"}">${dangers[name]}</strong>`;
  return html`<ul>${ordered.map((name) => html`<li>${scopeTexts[name]}${mark(name)}</li>`)}</ul>`;
}

/** A connector's name. */
const connectorName = (uid: string): string => connectorById(uid)?.name ?? uid;

/** An app's connectors as checkboxes; the form sends each selected one as `connector`. */
export function connectorChoice(app: Pick<OAuthApp, "connectorUids">, selected: readonly string[]): Html {
  const boxes = app.connectorUids.map(
    (uid) =>
      html`<label class="choice"><input type="checkbox" name="connector" value="${uid}"${selected.includes(uid) && html` checked`}><span>${connectorName(uid)}</span></label>`,
  );
  return html`<fieldset><legend>${words("Connectors that it may use", "Konnektoren, die sie benutzen darf")}</legend>${boxes}</fieldset>`;
}

/**
 * An app's name, with a link if it has a homepage. The homepage gets no referrer and no access to this page.
 */
export const appName = ({ name, homepageUrl }: Pick<OAuthApp, "name" | "homepageUrl">): Html =>
  homepageUrl === ""
    ? html`<strong>${name}</strong>`
    : html`<a href="${homepageUrl}" rel="noopener noreferrer" target="_blank">${name}</a>`;

/**
 * The target of the redirect: its host, or its scheme if another program handles it (spec/decisions.md 36).
 */
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

const reasons: Readonly<Record<Reason, Html>> = {
  client: words(
    "The link that you followed does not name a known app. The app may have been deleted.",
    "Der Link nennt keine bekannte App. Vielleicht wurde die App gelöscht.",
  ),
  redirect_uri: words(
    "The link that you followed contains a redirect address that the app has not registered.",
    "Der Link enthält eine Rückkehr-Adresse, die die App nicht registriert hat.",
  ),
};

/** There is no redirect for an invalid client or redirect URI (spec/decisions.md 27). */
export const unknownPage = (reason: Reason): Page => ({
  status: 400,
  title: brokenLinkTitle,
  body: html`<p>${reasons[reason]}</p><p>${nothingGranted}</p>`,
});

/** For a user who is not an active member of the app's team (spec/oauth.md 4). */
export const outsiderPage = (request: AuthorizationRequest, email: string, switchHref: string): Page => ({
  status: 403,
  title: cannotAllowTitle,
  body: html`<p>${outsiderText(request.app.name, email)}</p>
<div class="actions"><a class="button" href="${declinedLocation(request)}">${backToApp}</a><a class="button secondary" href="${switchHref}">${switchAccount}</a></div>`,
});

/**
 * A code is issued only once; a user who did not reach the app starts again. @param href the same request.
 */
export const usedPage = (request: AuthorizationRequest, href: string): Page => ({
  status: 409,
  title: words("You have already allowed this", "Sie haben das schon erlaubt"),
  body: html`<p>${words(
    `This page has already been submitted, and ${request.app.name} got its answer. If you did not return to the app, start again.`,
    `Diese Seite wurde schon gesendet, und ${request.app.name} hat die Antwort bekommen. Wenn Sie nicht in der App sind, beginnen Sie neu.`,
  )}</p>
${buttonLink(href, startAgain)}`,
});

/** For a request that is too long to keep during sign-in. @param href the same request. */
export const signInFirstPage = (signInHref: string, href: string): Page => ({
  title: words("Please sign in first", "Bitte melden Sie sich zuerst an"),
  body: html`<p>${words("Sign in on another page, then return to this page and continue.", "Melden Sie sich auf einer anderen Seite an, kommen Sie dann hierher zurück, und machen Sie weiter.")}</p>
<div class="actions"><a class="button" href="${signInHref}" rel="noopener" target="_blank">${signInWord}</a><a class="button secondary" href="${href}">${continueWord}</a></div>`,
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
  readonly notice: Html | null;
}

/** The content of the consent page of a team's app. */
export interface ConsentPageContent extends CommonContent {
  /** The active grant; null if there is none. */
  readonly grant: OAuthGrant | null;
  readonly teamName: string;
  /** Who registered the app: the name or address of its creator; null if the account is deleted. */
  readonly maker: string | null;
}

/** What the pages that grant access have in common. */
export const youWord = words("You", "Sie");
export const redirectsTo = words("Redirects to", "Führt zurück zu");
export const allowWord = words("Allow", "Erlauben");
export const whereItMayAct = words("Where it may act", "Wo sie handeln darf");
export const backToApp = words("Back to the app", "Zurück zur App");
export const brokenLinkTitle = words("This link does not work", "Dieser Link geht nicht");
export const cannotAllowTitle = words("You cannot allow this app", "Sie können diese App nicht erlauben");
export const nothingGranted = words(
  "No access was granted. Go back to the app and report this to its operator.",
  "Es wurde kein Zugriff erteilt. Gehen Sie zurück zur App, und melden Sie das ihrem Betreiber.",
);

/** Facts in two columns. */
export const factList = (...facts: readonly (false | readonly [term: Html, value: Part])[]): Html =>
  html`<dl>${facts.map((fact) => fact && html`<dt>${fact[0]}</dt><dd>${fact[1]}</dd>`)}</dl>`;

/** What the app may do, and for how long. */
export const permissions = (scopes: readonly ScopeName[], duration: Html, before?: Html): Html =>
  html`<h2>${words("What it may do", "Was sie darf")}</h2>
${before}${scopeList(scopes)}
<h2>${words("For how long", "Wie lange")}</h2>
<p>${duration}</p>`;

export const allowTitle = ({ name }: Pick<OAuthApp, "name">): Html =>
  words(`Allow ${name}?`, `${name} erlauben?`);

export const outsiderText = (app: string, email: string): Html =>
  words(
    `${app} is for members of one team, and ${email} is not an active member of it.`,
    `${app} ist für Mitglieder eines Teams, und ${email} ist kein aktives Mitglied.`,
  );

/** For apps that act in a space that the person chose. */
export const untilRevoked = (appsHref: string): Html =>
  words(
    html`Until you revoke it among <a href="${appsHref}">your apps</a> of the space, or it has not used it for ${unusedDays} days. Its tasks stay.`,
    html`Bis Sie es unter <a href="${appsHref}">Ihren Apps</a> des Bereichs widerrufen oder sie den Zugriff ${unusedDays} Tage nicht benutzt hat. Ihre Aufgaben bleiben.`,
  );

/**
 * The full page: the app, the scopes, the account, and the target of the redirect (spec/oauth.md 4,
 * spec/decisions.md 28, 36).
 */
export function fullPage(content: ConsentPageContent): Page {
  const { app, scopes } = content.request;
  const body = html`${content.notice !== null && noticeMessage(content.notice)}<p>${words(
    html`${appName(app)} wants to act for you in the team ${content.teamName}.`,
    html`${appName(app)} möchte im Team ${content.teamName} für Sie handeln.`,
  )}</p>
${app.description !== "" && html`<p class="quiet">${app.description}</p>`}
${factsOf(content)}
${permissions(scopes, duration(content))}
${form(content, allowWord, scopes.includes("use_connectors") && app.connectorUids.length > 0 && connectorChoice(app, selectedConnectors(content)))}
${otherAccount(content)}`;
  return { title: allowTitle(app), body, formAction: [targetOf(content.request.redirectUri).formAction] };
}

/** One click if nothing new is requested. At least one click, so that a link alone cannot issue a code. */
export function shortPage(content: ConsentPageContent): Page {
  const { app } = content.request;
  const body = html`${content.notice !== null && noticeMessage(content.notice)}<p>${words(
    html`You have already allowed ${appName(app)}, and it requests nothing new.`,
    html`Sie haben ${appName(app)} schon erlaubt, und sie verlangt nichts Neues.`,
  )}</p>
${factsOf(content)}
${form(content, continueWord, false)}
${otherAccount(content)}`;
  return {
    title: words(`Continue to ${app.name}?`, `Weiter zu ${app.name}?`),
    body,
    formAction: [targetOf(content.request.redirectUri).formAction],
  };
}

/** For how many days an unused authorization lasts. */
export const unusedDays = refreshMs / (24 * 3_600_000);

/** For how long an app has access, and how to end it. */
const duration = ({ appsHref, request: { app } }: ConsentPageContent): Html =>
  words(
    html`Until you revoke it. When ${app.name} has not used it for ${unusedDays} days, it must ask you again. You can <a href="${appsHref}">revoke it</a> at any time: the app then loses its access at once, and its tasks stay.`,
    html`Bis Sie es widerrufen. Wenn ${app.name} den Zugriff ${unusedDays} Tage nicht benutzt hat, muss sie Sie erneut fragen. Sie können ihn jederzeit <a href="${appsHref}">widerrufen</a>: die App verliert ihn dann sofort, und ihre Aufgaben bleiben.`,
  );

export const accountText = ({ name, email }: CommonContent["account"]): Html =>
  html`${name && html`${name}, `}${addressText(email)}`;

/** A mail address that breaks after its marks instead of in a word. */
const addressText = (address: string): readonly Html[] =>
  address.split(/(?<=[@.])/).map((part, at) => html`${at > 0 && html`<wbr>`}${part}`);

const factsOf = ({ teamName, maker, account, request }: ConsentPageContent): Html =>
  factList(
    maker !== null && [words("Made by", "Von"), addressText(maker)],
    [words("Team", "Team"), teamName],
    [youWord, accountText(account)],
    [redirectsTo, targetOf(request.redirectUri).name],
  );

/** The form of a consent page, with its two decisions. */
export const form = (
  { action, fields }: Pick<CommonContent, "action" | "fields">,
  approveLabel: Html,
  choice: Html | false,
  declineLabel = words("Decline", "Ablehnen"),
): Html => html`<form method="post" action="${action}">
${fields}${choice}
<div class="actions"><button type="submit" name="decision" value="approve">${approveLabel}</button><button class="secondary" type="submit" name="decision" value="decline">${declineLabel}</button></div>
</form>`;

/** A link to the page for another account. */
export const otherAccount = ({ switchHref }: Pick<CommonContent, "switchHref">): Html =>
  html`<p class="small"><a href="${switchHref}">${switchAccount}</a></p>`;

/** All connectors the first time that they are requested; later, the granted ones. */
function selectedConnectors({ grant, request }: ConsentPageContent): readonly string[] {
  return grant?.scopes.includes("use_connectors") ? grant.connectorUids : request.app.connectorUids;
}
