import { type Html, html, words } from "./html.ts";

// Texts that several pages have.

export const signInWord = words("Sign in", "Anmelden");
export const signInFailed = words("Sign-in failed", "Anmeldung fehlgeschlagen");
export const backToSignIn = words("Back to sign-in", "Zurück zur Anmeldung");
export const anotherWay = words("Sign in another way", "Anders anmelden");
export const linkByMail = words("Get a sign-in link by mail", "Anmeldelink per E-Mail");
export const startAgain = words("Start again", "Neu beginnen");
export const continueWord = words("Continue", "Weiter");
export const backWord = words("Back", "Zurück");
export const orWord = words("or", "oder");
export const emailLabel = words("E-mail address", "E-Mail-Adresse");
export const notAnAddress = words("This is not an e-mail address.", "Das ist keine E-Mail-Adresse.");
export const passwordLabel = words("Password", "Passwort");
export const choosePassword = words("Choose a password", "Passwort wählen");
export const changePassword = words("Change the password", "Passwort ändern");
export const securityTitle = words("Sign-in and security", "Anmeldung und Sicherheit");
/** The title of the page that lists them, and of links to it. */
export const yourApps = words("Your apps", "Ihre Apps");
export const switchAccount = words("Switch account", "Konto wechseln");
export const otherSessionsEnd = words(
  "All your other sessions will end.",
  "Alle Ihre anderen Sitzungen enden.",
);
export const wrongCode = words(
  "The code is wrong, or was used before. Wait for the next one.",
  "Der Code ist falsch oder wurde schon benutzt. Warten Sie auf den nächsten.",
);
export const refusedPasskey = words(
  "The passkey was not accepted. Try again.",
  "Der Passkey wurde nicht angenommen. Versuchen Sie es erneut.",
);
/** @param label the name of an identity provider */
export const continueWith = (label: string): Html => words(`Continue with ${label}`, `Weiter mit ${label}`);

/** The request's id, by which an operator finds it in the log. */
export const requestNote = (requestId: string): Html =>
  html`<p class="quiet small">${words(`Request ${requestId}`, `Anfrage ${requestId}`)}</p>`;
