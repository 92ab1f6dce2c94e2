import type { ScopeName } from "../../core/accounts/caller.ts";
import type { OAuthApp } from "../../core/oauth/app.ts";
import type { DeviceRequest } from "../../core/oauth/device.ts";
import { shownUserCode } from "../../core/oauth/user-code.ts";
import type { SessionHolder, SignInSpace } from "../../core/sign-in/sign-in.ts";
import { spaceChoice } from "../entrance.ts";
import { alertMessage, buttonLink, field, postForm } from "../form.ts";
import { type Html, html, words } from "../html.ts";
import type { Page } from "../page.ts";
import { continueWord, switchAccount } from "../words.ts";
import {
  accountText,
  appName,
  connectorChoice,
  factList,
  form,
  outsiderText,
  permissions,
  untilRevoked,
  whereItMayAct,
  youWord,
} from "./consent-page.ts";

const timeIn = (tag: string, at: number): string =>
  new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }).format(at);

/** The page on which a person types the code. */
export interface CodePageContent {
  readonly action: string;
  /** Hidden fields of the form. */
  readonly fields: Html;
  /** What the field has at first: a link can fill it. */
  readonly typed: string;
  /** What is wrong with the typed code; null at first. */
  readonly wrong: Html | null;
  readonly account: Pick<SessionHolder, "name" | "email">;
  readonly switchHref: string;
}

export const codePage = ({ action, fields, typed, wrong, account, switchHref }: CodePageContent): Page => ({
  title: words("Connect a device", "Gerät verbinden"),
  status: wrong === null ? 200 : 400,
  body: html`<p>${words("Enter the code that your device or terminal shows. The next page shows the request, and you decide.", "Geben Sie den Code ein, den Ihr Gerät oder Terminal zeigt. Die nächste Seite zeigt die Anfrage, und Sie entscheiden.")}</p>
${postForm(
  action,
  html`${alertMessage(wrong)}${fields}
${field({ name: "user_code", label: words("Code", "Code"), autocomplete: "one-time-code", value: typed, hint: words("8 letters, for example WDJB-MJHT", "8 Buchstaben, zum Beispiel WDJB-MJHT"), isCode: true, maxLength: 16, isInvalid: wrong !== null })}`,
  continueWord,
)}
<p class="quiet small">${words(html`You are signed in as ${accountText(account)}.`, html`Sie sind als ${accountText(account)} angemeldet.`)} <a href="${switchHref}">${switchAccount}</a></p>`,
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

/**
 * The page on which a person approves or denies the request of a device. No redirect follows: its policy
 * allows this site only.
 */
export function devicePage(content: DevicePageContent): Page {
  const { app, device, account, appsHref } = content;
  return {
    title:
      content.teamName === null
        ? words("Connect the command line?", "Kommandozeile verbinden?")
        : words(`Connect ${app.name}?`, `${app.name} verbinden?`),
    body: html`<p>${asking(content)}</p>
<p class="notice">${words(
      html`Approve only if you have just started this yourself, and your device shows the code <strong>${shownUserCode(content.userCode)}</strong>. If you got the code from another person, choose Deny.`,
      html`Erlauben Sie es nur, wenn Sie es gerade selbst begonnen haben und Ihr Gerät den Code <strong>${shownUserCode(content.userCode)}</strong> zeigt. Wenn Sie den Code von einer anderen Person haben, wählen Sie Ablehnen.`,
    )}</p>
${factList(
  [words("Asked from", "Angefragt von"), device.address],
  [
    words("Asked at", "Angefragt am"),
    html`<time datetime="${new Date(device.createdAt).toISOString()}">${words(timeIn("en", device.createdAt), timeIn("de", device.createdAt))} UTC</time>`,
  ],
  [words("App", "App"), verification(content)],
  [youWord, accountText(account)],
)}
${permissions(device.scopes, untilRevoked(appsHref))}
${form(content, words("Approve", "Erlauben"), choice(content), words("Deny", "Ablehnen"))}`,
  };
}

/** Who answers for the app. */
function verification({ app, teamName, maker }: DevicePageContent): Html {
  const { homepageUrl } = app;
  const host = homepageUrl === "" ? null : new URL(homepageUrl).host;
  if (teamName === null) return words("Part of this server", "Teil dieses Servers");
  const more = host !== null && `, ${host}`;
  return words(
    html`Registered in ${teamName}${maker !== null && ` by ${maker}`}${more}`,
    html`Registriert in ${teamName}${maker !== null && ` von ${maker}`}${more}`,
  );
}

const choice = ({ app, device, spaces, currentSpaceId }: DevicePageContent): Html | false =>
  app.spaceId === null
    ? spaceChoice(spaces, whereItMayAct, currentSpaceId)
    : hasConnectors(app, device.scopes) && connectorChoice(app, app.connectorUids);

/** Whether the page offers connectors. */
export const hasConnectors = ({ connectorUids }: OAuthApp, scopes: readonly ScopeName[]): boolean =>
  scopes.includes("use_connectors") && connectorUids.length > 0;

/** The app at the beginning of a sentence. */
const subject = ({ spaceId, name }: OAuthApp): Html | string =>
  spaceId === null ? words("The command line", "Die Kommandozeile") : name;

const closePage = words("You can close this page.", "Sie können diese Seite schließen.");

function asking({ app, teamName }: DevicePageContent): Html {
  if (teamName === null)
    return words(
      html`The command line <code>atp</code> on another device wants to act for you.`,
      html`Die Kommandozeile <code>atp</code> auf einem anderen Gerät möchte für Sie handeln.`,
    );
  return words(
    html`${appName(app)} on another device wants to act for you in the team ${teamName}.`,
    html`${appName(app)} auf einem anderen Gerät möchte im Team ${teamName} für Sie handeln.`,
  );
}

export const approvedPage = (app: OAuthApp): Page => ({
  title: words("The device is connected", "Das Gerät ist verbunden"),
  body: html`<p>${words(
    html`${subject(app)} can act for you now. Return to your device: it continues by itself within a few seconds.`,
    html`${subject(app)} kann jetzt für Sie handeln. Kehren Sie zu Ihrem Gerät zurück: es geht dort in einigen Sekunden von selbst weiter.`,
  )}</p>
<p class="quiet">${closePage}</p>`,
});

export const deniedPage = (app: OAuthApp): Page => ({
  title: words("The request is denied", "Die Anfrage ist abgelehnt"),
  body: html`<p>${words(
    html`${subject(app)} got no access. If you did not start this yourself, another person may have tried to get into your account. You need to do nothing more.`,
    html`${subject(app)} hat keinen Zugriff bekommen. Wenn Sie das nicht selbst begonnen haben, hat vielleicht eine andere Person versucht, in Ihr Konto zu kommen. Sie müssen nichts weiter tun.`,
  )}</p>
<p class="quiet">${closePage}</p>`,
});

/**
 * For a request that was decided, has expired, or has changed. @param href the page on which a code is typed
 */
export const overPage = (href: string): Page => ({
  status: 409,
  title: words("This request is over", "Diese Anfrage ist vorbei"),
  body: html`<p>${words("It was answered before, it has expired, or the app has changed. Start again on your device to get a new code.", "Sie wurde schon beantwortet, ist abgelaufen, oder die App hat sich geändert. Beginnen Sie auf Ihrem Gerät neu, um einen neuen Code zu bekommen.")}</p>
${buttonLink(href, words("Enter another code", "Anderen Code eingeben"))}`,
});

/** For a person who is not an active member of the app's team. */
export const deviceOutsiderPage = (app: OAuthApp, email: string, switchHref: string): Page => ({
  status: 403,
  title: words("You cannot connect this app", "Sie können diese App nicht verbinden"),
  body: html`<p>${outsiderText(app.name, email)}</p>
${buttonLink(switchHref, switchAccount, "secondary")}`,
});
