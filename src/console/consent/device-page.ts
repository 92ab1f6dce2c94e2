import type { ScopeName } from "../../core/accounts/caller.ts";
import type { OAuthApp } from "../../core/oauth/app.ts";
import type { DeviceRequest } from "../../core/oauth/device.ts";
import { shownUserCode } from "../../core/oauth/user-code.ts";
import type { SessionHolder, SignInSpace } from "../../core/sign-in/sign-in.ts";
import { spaceChoice } from "../entrance.ts";
import { alertMessage, field } from "../form.ts";
import { type Html, html } from "../html.ts";
import type { Page } from "../page.ts";
import { accountText, appName, connectorChoice, form, scopeList, unusedDays } from "./consent-page.ts";

const timeForm = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** The page on which a person types the code. */
export interface CodePageContent {
  readonly action: string;
  /** Hidden fields of the form. */
  readonly fields: Html;
  /** What the field has at first: a link can fill it. */
  readonly typed: string;
  /** What is wrong with the typed code; null at first. */
  readonly wrong: string | null;
  readonly account: Pick<SessionHolder, "name" | "email">;
  readonly switchHref: string;
}

export const codePage = ({ action, fields, typed, wrong, account, switchHref }: CodePageContent): Page => ({
  title: "Connect a device",
  status: wrong === null ? 200 : 400,
  body: html`<p>Enter the code that your device or terminal shows. The next page shows the request, and you decide.</p>
<form method="post" action="${action}">
${alertMessage(wrong)}${fields}
${field({ name: "user_code", label: "Code", type: "text", autocomplete: "one-time-code", value: typed, hint: "8 letters, for example WDJB-MJHT", isCode: true, maxLength: 16, isInvalid: wrong !== null })}
<button type="submit">Continue</button>
</form>
<p class="quiet small">You are signed in as ${accountText(account)}. <a href="${switchHref}">Switch account</a></p>`,
});

/** What asks, and what it asks for. */
export interface DevicePageContent {
  readonly action: string;
  readonly fields: Html;
  readonly app: OAuthApp;
  readonly device: Pick<DeviceRequest, "address" | "createdAt" | "scopes">;
  /** The typed code, 8 letters. */
  readonly userCode: string;
  readonly account: Pick<SessionHolder, "name" | "email">;
  /** The team of the app; null for an app of no team. */
  readonly teamName: string | null;
  /** Who registered the app; null for the command line, and if the account is deleted. */
  readonly maker: string | null;
  /** The spaces to choose from, for an app of no team. */
  readonly spaces: readonly SignInSpace[];
  readonly currentSpaceId: string;
  readonly appsHref: string;
}

/** The page on which a person approves or denies the request of a device. No redirect follows: its policy allows this site only. */
export function devicePage(content: DevicePageContent): Page {
  const { app, device, account, appsHref } = content;
  return {
    title: content.teamName === null ? "Connect the command line?" : `Connect ${app.name}?`,
    body: html`<p>${content.teamName === null ? html`The command line <code>atp</code>` : appName(app)} on another device wants to act for you${content.teamName !== null && html` in the team ${content.teamName}`}.</p>
<p class="notice">Approve only if you have just started this yourself, and your device shows the code <strong>${shownUserCode(content.userCode)}</strong>. If you got the code from another person, choose Deny.</p>
<dl>
<dt>Asked from</dt><dd>${device.address}</dd>
<dt>Asked at</dt><dd><time datetime="${new Date(device.createdAt).toISOString()}">${timeForm.format(device.createdAt)} UTC</time></dd>
<dt>App</dt><dd>${verification(content)}</dd>
<dt>You</dt><dd>${accountText(account)}</dd>
</dl>
<h2>What it may do</h2>
${scopeList(device.scopes)}
<h2>For how long</h2>
<p>Until you revoke it among <a href="${appsHref}">your apps</a> of the space, or it has not used it for ${unusedDays} days. Its tasks stay.</p>
${form(content, "Approve", choice(content), "Deny")}`,
  };
}

/** Who answers for the app. */
function verification({ app, teamName, maker }: DevicePageContent): Html {
  const { homepageUrl } = app;
  const host = homepageUrl === "" ? null : new URL(homepageUrl).host;
  if (teamName === null) return html`Part of this server`;
  return html`Registered in ${teamName}${maker !== null && html` by ${maker}`}${host !== null && html`, ${host}`}`;
}

const choice = ({ app, device, spaces, currentSpaceId }: DevicePageContent): Html | false =>
  app.spaceId === null
    ? spaceChoice(spaces, "Where it may act", currentSpaceId)
    : hasConnectors(app, device.scopes) && connectorChoice(app, app.connectorUids);

/** Whether the page offers connectors. */
export const hasConnectors = ({ connectorUids }: OAuthApp, scopes: readonly ScopeName[]): boolean =>
  scopes.includes("use_connectors") && connectorUids.length > 0;

/** The app at the beginning of a sentence. */
const subject = ({ spaceId, name }: OAuthApp): string => (spaceId === null ? "The command line" : name);

export const approvedPage = (app: OAuthApp): Page => ({
  title: "The device is connected",
  body: html`<p>${subject(app)} can act for you now. Return to your device: it continues by itself within a few seconds.</p>
<p class="quiet">You can close this page.</p>`,
});

export const deniedPage = (app: OAuthApp): Page => ({
  title: "The request is denied",
  body: html`<p>${subject(app)} got no access. If you did not start this yourself, another person may have tried to get into your account. You need to do nothing more.</p>
<p class="quiet">You can close this page.</p>`,
});

/** For a request that was decided, has expired, or has changed. @param href the page on which a code is typed */
export const overPage = (href: string): Page => ({
  status: 409,
  title: "This request is over",
  body: html`<p>It was answered before, it has expired, or the app has changed. Start again on your device to get a new code.</p>
<p><a class="button" href="${href}">Enter another code</a></p>`,
});

/** For a person who is not an active member of the app's team. */
export const deviceOutsiderPage = (app: OAuthApp, email: string, switchHref: string): Page => ({
  status: 403,
  title: "You cannot connect this app",
  body: html`<p>${app.name} is for members of one team, and ${email} is not an active member of it.</p>
<p><a class="button secondary" href="${switchHref}">Switch account</a></p>`,
});
