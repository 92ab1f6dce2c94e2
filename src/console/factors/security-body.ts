import type { Authenticator, Passkey } from "../../core/sign-in/factor.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import { alertMessage, field, hiddenField } from "../form.ts";
import { type Html, html } from "../html.ts";
import type { ConsoleParts } from "../parts.ts";
import { passkeyForm, whereSupported } from "./passkey-form.ts";

/** How the page is shown. */
interface Shown {
  /** The hidden field of every form. */
  readonly token: Html;
  readonly notice: Html | null;
  readonly wrong: string | null;
  /** The person has proven their identity in the last five minutes: only then there are forms. */
  readonly isFresh: boolean;
}

const day = (at: number): string =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** The content of `/account/security`. */
export async function securityBody(parts: ConsoleParts, { session }: SessionHolder, shown: Shown): Promise<Html> {
  const { store, visits, relyingParty } = parts;
  const { accountId } = session;
  const [passkeys, authenticator, left, password] = await Promise.all([
    store.factors.passkeys(accountId),
    store.factors.authenticator(accountId),
    store.factors.countRecoveryCodes(accountId),
    store.signIns.password(accountId),
  ]);
  const href = (path: string): string => visits.href(`/account/security${path}`);
  return html`${shown.notice}${alertMessage(shown.wrong)}${!shown.isFresh && proofNotice(visits.href)}
<section class="part" aria-labelledby="passkeys">
<h2 id="passkeys">Passkeys</h2>
<p class="quiet">Sign in with your fingerprint, face or screen lock, without a password or a code.</p>
${passkeys.length > 0 && html`<ul class="factors">${passkeys.map((passkey) => passkeyRow(passkey, href, shown))}</ul>`}
${relyingParty === null && html`<p class="quiet small">Passkeys need an https address with a host name. Ask your administrator.</p>`}
${relyingParty !== null && shown.isFresh && addForm(href, shown)}
</section>
<section class="part" aria-labelledby="app">
<h2 id="app">Authenticator app${authenticator !== null && html` <span class="mark on">On</span>`}</h2>
${appPart(authenticator, left, href, shown)}
</section>
<section class="part" aria-labelledby="password">
<h2 id="password">Password</h2>
<p><a href="${visits.href("/account/password")}">${password === null ? "Choose a password" : "Change the password"}</a></p>
</section>
<p><a href="${visits.href("/account")}">Back to your account</a></p>`;
}

const proofNotice = (href: (path: string) => string): Html =>
  html`<p class="notice">To change anything here, confirm that it is you. <a href="${href("/account/prove")}?next=${encodeURIComponent(href("/account/security"))}">Confirm</a></p>`;

type Href = (path: string) => string;

const passkeyRow = ({ id, name, createdAt, usedAt }: Passkey, href: Href, { token, isFresh }: Shown): Html =>
  html`<li><span><strong>${name}</strong><br><span class="quiet small">Added ${day(createdAt)}${usedAt !== null && ` · last used ${day(usedAt)}`}</span></span>
${
  isFresh &&
  html`<details><summary aria-label="Change ${name}">Change</summary>
<form method="post" action="${href("/rename")}">${token}${hiddenField("passkey", id)}
<div class="field"><label for="name-${id}">Name</label><input id="name-${id}" name="name" type="text" autocomplete="off" required maxlength="60" value="${name}"></div>
<button class="secondary" type="submit">Rename</button></form>
<form method="post" action="${href("/remove")}">${token}${hiddenField("passkey", id)}
<button class="danger" type="submit" aria-label="Remove this passkey: ${name}">Remove this passkey</button></form>
</details>`
}</li>`;

const addForm = (href: Href, { token }: Shown): Html =>
  whereSupported(
    html`<details class="add"><summary>Add a passkey</summary>${passkeyForm({
      asks: "create",
      action: href("/passkey"),
      fields: html`${token}${field({ name: "name", label: "Name", type: "text", autocomplete: "off", maxLength: 60, hint: "For example the device. All your other sessions will end." })}`,
      button: html`<button type="submit">Add a passkey</button>`,
    })}</details>`,
  );

function appPart(authenticator: Authenticator | null, left: number, href: Href, { token, isFresh }: Shown): Html {
  if (authenticator === null)
    return html`<p class="quiet">After your password, a code from your phone. It protects the account when another person knows the password.</p>
${isFresh && html`<p><a class="button secondary" href="${href("/app")}">Set up an app</a></p>`}`;
  return html`<p class="quiet">Set up on ${day(authenticator.createdAt)}. You have ${left} of 10 recovery codes left.</p>
${
  isFresh &&
  html`<details><summary>New recovery codes</summary>
<form method="post" action="${href("/codes")}">${token}<p>The codes that you have will not work any more.</p><button type="submit">Make new codes</button></form></details>
<details><summary>Remove the app</summary>
<form method="post" action="${href("/app/remove")}">${token}<p>Your password alone will be enough to sign in. All your other sessions will end.</p><button class="danger" type="submit">Remove the app</button></form></details>`
}`;
}
