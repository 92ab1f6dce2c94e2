import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { encode } from "uqr";
import { openExpiring, sealExpiring } from "../../core/cipher.ts";
import { addAuthenticator, replaceRecoveryCodes } from "../../core/sign-in/factors.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import { base32, otpauthUrl, secretBytes, stepOf } from "../../core/sign-in/totp.ts";
import { alertMessage, buttonLink, field, hiddenField, postForm } from "../form.ts";
import { type Html, html, words } from "../html.ts";
import { sendPage } from "../page.ts";
import type { ConsoleParts } from "../parts.ts";
import { securityPath } from "../visits.ts";
import type { SecurityPages } from "./security-pages.ts";

const path = `${securityPath}/app`;
/** The time to set up the app: then the page makes a new secret. */
const setupMs = 15 * 60_000;
const issuer = "Agent Task Platform";

/**
 * A QR code as dark squares on white, with the quiet zone that readers need. It is made here: the secret goes
 * to no other site.
 */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { ecc: "M", border: 4 });
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${words("QR code with the key below", "QR-Code mit dem Schlüssel darunter")}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${squares.join("")}"/></svg>`;
}

/** A sealed secret in the form of the page: it counts once a code of it was right. */
interface PendingApp {
  /** base64url. */
  readonly secret: string;
}

/** Sets up the authenticator app, and shows recovery codes. */
export function authenticatorRoutes(app: FastifyInstance, parts: ConsoleParts, pages: SecurityPages): void {
  const { visits, store, cipher, clock } = parts;
  const contextOf = ({ session }: SessionHolder): string => `authenticator setup ${session.id}`;

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    who: SessionHolder,
    secret: Uint8Array,
    wrong: Html | null,
  ): FastifyReply {
    const sealed = sealExpiring(
      cipher,
      clock,
      contextOf(who),
      { secret: Buffer.from(secret).toString("base64url") },
      setupMs,
    );
    const key = (base32(secret).match(/.{4}/g) ?? []).join(" ");
    const body = html`<p>${words("Scan the code with an authenticator app on your phone, or enter the key there.", "Scannen Sie den Code mit einer Authenticator-App auf Ihrem Telefon, oder geben Sie dort den Schlüssel ein.")}</p>
${qrCode(otpauthUrl(secret, issuer, who.email))}
<p class="key"><span class="quiet small">${words("Key", "Schlüssel")}</span> <code>${key}</code></p>
${postForm(
  visits.href(path),
  html`${alertMessage(wrong)}${visits.sessionToken(request)}${hiddenField("sealed", sealed)}
${field({ name: "code", label: words("Code of the app", "Code der App"), autocomplete: "one-time-code", maxLength: 20, hint: words("6 digits. All your other sessions will end.", "6 Ziffern. Alle Ihre anderen Sitzungen enden."), isInvalid: wrong !== null })}`,
  words("Turn on", "Einschalten"),
)}
<p><a href="${visits.href(securityPath)}">${words("Cancel", "Abbrechen")}</a></p>`;
    return sendPage(reply, visits, {
      title: words("Set up an authenticator app", "Authenticator-App einrichten"),
      body,
      status: wrong === null ? 200 : 400,
    });
  }

  function showCodes(reply: FastifyReply, codes: readonly string[]): FastifyReply {
    const body = html`<p>${words("With each of these codes you can sign in once when you do not have your app. Keep them where you keep your passwords.", "Mit jedem dieser Codes können Sie sich einmal anmelden, wenn Sie Ihre App nicht haben. Bewahren Sie sie bei Ihren Passwörtern auf.")}</p>
<ol class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
<p class="notice" role="status">${words("They are shown only now. Earlier codes no longer work.", "Sie werden nur jetzt gezeigt. Frühere Codes gelten nicht mehr.")}</p>
${buttonLink(visits.href(securityPath), words("I have kept them", "Ich habe sie aufbewahrt"))}`;
    return sendPage(reply, visits, {
      title: words("Your recovery codes", "Ihre Wiederherstellungscodes"),
      body,
    });
  }

  app.get(
    path,
    pages.proven(async (request, reply, who) => {
      if ((await store.factors.authenticator(who.session.accountId)) !== null) return pages.done(reply);
      return show(request, reply, who, parts.random(secretBytes), null);
    }),
  );

  app.post(
    path,
    pages.proven(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const pending = openExpiring<PendingApp>(cipher, clock, contextOf(who), form.text("sealed"));
      if (pending === null)
        return show(
          request,
          reply,
          who,
          parts.random(secretBytes),
          words(
            "The page has expired: scan the new code.",
            "Die Seite ist abgelaufen: scannen Sie den neuen Code.",
          ),
        );
      const secret = Buffer.from(pending.secret, "base64url");
      const step = stepOf(secret, form.text("code").replace(/\s/g, ""), clock.now());
      if (step === null)
        return show(
          request,
          reply,
          who,
          secret,
          words(
            "The code is wrong. Check the clock of your phone, and enter the next code.",
            "Der Code ist falsch. Prüfen Sie die Uhr Ihres Telefons, und geben Sie den nächsten Code ein.",
          ),
        );
      const codes = await pages.change(request, who, (change) =>
        addAuthenticator(change, cipher, { secret, step }),
      );
      return codes === null
        ? pages.refuse(
            request,
            reply,
            who,
            words("You have an authenticator app already.", "Sie haben schon eine Authenticator-App."),
          )
        : showCodes(reply, codes);
    }),
  );

  app.post(
    `${securityPath}/codes`,
    pages.proven(async (request, reply, who) => {
      visits.sessionForm(request);
      const codes = await pages.change(request, who, replaceRecoveryCodes);
      return codes === null
        ? pages.refuse(
            request,
            reply,
            who,
            words("Set up an authenticator app first.", "Richten Sie zuerst eine Authenticator-App ein."),
          )
        : showCodes(reply, codes);
    }),
  );
}
