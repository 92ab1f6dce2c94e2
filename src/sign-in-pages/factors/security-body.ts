import type { Authenticator, Passkey } from "../../core/sign-in/factor.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import { alertMessage, buttonLink, field, hiddenField, postForm } from "../form.ts";
import { type Html, html, words } from "../html.ts";
import type { ConsoleParts } from "../parts.ts";
import { securityPath, type Visits } from "../visits.ts";
import { changePassword, choosePassword, otherSessionsEnd, passwordLabel } from "../words.ts";
import { passkeyForm, whereSupported } from "./passkey-form.ts";

/** How the page is shown. */
interface Shown {
  /** The hidden field of every form. */
  readonly token: Html;
  readonly notice: Html | null;
  readonly wrong: Html | null;
  /** The person has proven their identity in the last five minutes: only then there are forms. */
  readonly isFresh: boolean;
}

const day = (at: number): Html => {
  const dayIn = (tag: string): string =>
    new Date(at).toLocaleDateString(tag, {
      day: "numeric",
      month: "short",
      year: "numeric",
      timeZone: "UTC",
    });
  return words(dayIn("en-GB"), dayIn("de-DE"));
};

/** The content of `/account/security`. */
export async function securityBody(
  parts: ConsoleParts,
  { session }: SessionHolder,
  shown: Shown,
): Promise<Html> {
  const { store, visits, relyingParty } = parts;
  const { accountId } = session;
  const [passkeys, authenticator, left, password] = await Promise.all([
    store.factors.passkeys(accountId),
    store.factors.authenticator(accountId),
    store.factors.countRecoveryCodes(accountId),
    store.signIns.password(accountId),
  ]);
  const href = (path: string): string => visits.href(`${securityPath}${path}`);
  return html`${shown.notice}${alertMessage(shown.wrong)}${!shown.isFresh && proofNotice(visits.href)}
<section class="part" aria-labelledby="passkeys">
<h2 id="passkeys">${words("Passkeys", "Passkeys")}</h2>
<p class="quiet">${words("Sign in with your fingerprint, face or screen lock, without a password or a code.", "Melden Sie sich mit Fingerabdruck, Gesicht oder Bildschirmsperre an, ohne Passwort und ohne Code.")}</p>
${passkeys.length > 0 && html`<ul class="factors">${passkeys.map((passkey) => passkeyRow(passkey, href, shown))}</ul>`}
${relyingParty === null && html`<p class="quiet small">${words("Passkeys need an https address with a host name. Ask your administrator.", "Passkeys brauchen eine https-Adresse mit einem Hostnamen. Fragen Sie Ihren Administrator.")}</p>`}
${relyingParty !== null && shown.isFresh && addForm(href, shown)}
</section>
<section class="part" aria-labelledby="app">
<h2 id="app">${words("Authenticator app", "Authenticator-App")}${authenticator !== null && html` <span class="mark on">${words("On", "An")}</span>`}</h2>
${appPart(authenticator, left, href, shown)}
</section>
<section class="part" aria-labelledby="password">
<h2 id="password">${passwordLabel}</h2>
<p><a href="${visits.href("/account/password")}">${password === null ? choosePassword : changePassword}</a></p>
</section>
<p><a href="${visits.apps}">${words("Apps that act for you", "Apps, die für Sie handeln")}</a></p>
<p><a href="${visits.href("/sign-out")}">${words("Sign out", "Abmelden")}</a></p>
${visits.account !== href("") && html`<p><a href="${visits.account}">${words("Back to your account", "Zurück zu Ihrem Konto")}</a></p>`}`;
}

const proofNotice = (href: Visits["href"]): Html =>
  html`<p class="notice">${words("To change anything here, confirm that it is you.", "Um hier etwas zu ändern, bestätigen Sie, dass Sie es sind.")} <a href="${href("/account/prove", href(securityPath))}">${words("Confirm", "Bestätigen")}</a></p>`;

type Href = (path: string) => string;

const passkeyRow = ({ id, name, createdAt, usedAt }: Passkey, href: Href, { token, isFresh }: Shown): Html =>
  html`<li><span><strong>${name}</strong><br><span class="quiet small">${words(html`Added ${day(createdAt)}`, html`Hinzugefügt am ${day(createdAt)}`)}${usedAt !== null && words(html` · last used ${day(usedAt)}`, html` · zuletzt benutzt am ${day(usedAt)}`)}</span></span>
${
  isFresh &&
  html`<details><summary aria-label="${words(`Change ${name}`, `${name} ändern`)}">${words("Change", "Ändern")}</summary>
${postForm(href("/rename"), [token, hiddenField("passkey", id), html`<div class="field"><label for="name-${id}">${words("Name", "Name")}</label><input id="name-${id}" name="name" type="text" autocomplete="off" required maxlength="60" value="${name}"></div>`], words("Rename", "Umbenennen"), "secondary")}
<form method="post" action="${href("/remove")}">${token}${hiddenField("passkey", id)}
<button class="danger" type="submit" aria-label="${words(`Remove this passkey: ${name}`, `Diesen Passkey entfernen: ${name}`)}">${words("Remove this passkey", "Diesen Passkey entfernen")}</button></form>
</details>`
}</li>`;

const addText = words("Add a passkey", "Passkey hinzufügen");

const addForm = (href: Href, { token }: Shown): Html =>
  whereSupported(
    html`<details class="add"><summary>${addText}</summary>${passkeyForm({
      asks: "create",
      action: href("/passkey"),
      fields: html`${token}${field({ name: "name", label: words("Name", "Name"), autocomplete: "off", maxLength: 60, hint: words("For example the device. All your other sessions will end.", "Zum Beispiel das Gerät. Alle Ihre anderen Sitzungen enden.") })}`,
      button: html`<button type="submit">${addText}</button>`,
    })}</details>`,
  );

const removeAppText = words("Remove the app", "App entfernen");

function appPart(
  authenticator: Authenticator | null,
  left: number,
  href: Href,
  { token, isFresh }: Shown,
): Html {
  if (authenticator === null)
    return html`<p class="quiet">${words("After your password, a code from your phone. It protects the account when another person knows the password.", "Nach dem Passwort ein Code von Ihrem Telefon. Er schützt das Konto, wenn eine andere Person das Passwort kennt.")}</p>
${isFresh && buttonLink(href("/app"), words("Set up an app", "App einrichten"), "secondary")}`;
  return html`<p class="quiet">${words(
    html`Set up on ${day(authenticator.createdAt)}. You have ${left} of 10 recovery codes left.`,
    html`Eingerichtet am ${day(authenticator.createdAt)}. Sie haben noch ${left} von 10 Wiederherstellungscodes.`,
  )}</p>
${
  isFresh &&
  html`<details><summary>${words("New recovery codes", "Neue Wiederherstellungscodes")}</summary>
${postForm(href("/codes"), html`${token}<p>${words("The codes that you have will no longer work.", "Die Codes, die Sie haben, gelten dann nicht mehr.")}</p>`, words("Make new codes", "Neue Codes erzeugen"))}</details>
<details><summary>${removeAppText}</summary>
${postForm(href("/app/remove"), html`${token}<p>${words("Your password alone will be enough to sign in.", "Ihr Passwort allein genügt dann für die Anmeldung.")} ${otherSessionsEnd}</p>`, removeAppText, "danger")}</details>`
}`;
}
