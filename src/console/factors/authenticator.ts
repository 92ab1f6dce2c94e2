import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { encode } from "uqr";
import { openExpiring, sealExpiring } from "../../core/cipher.ts";
import { addAuthenticator, replaceRecoveryCodes } from "../../core/sign-in/factors.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import { base32, otpauthUrl, secretBytes, stepOf } from "../../core/sign-in/totp.ts";
import { alertMessage, field, hiddenField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { sendPage } from "../page.ts";
import type { ConsoleParts } from "../parts.ts";
import type { SecurityPages } from "./security-pages.ts";

const path = "/account/security/app";
/** The time to set up the app: then the page makes a new secret. */
const setupMs = 15 * 60_000;
const issuer = "Agent Task Platform";

/** A QR code as dark squares on white, with the quiet zone that readers need. It is made here: the secret goes to no other site. */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { ecc: "M", border: 4 });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code with the key below" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${squares.join("")}"/></svg>`;
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

  function show(request: FastifyRequest, reply: FastifyReply, who: SessionHolder, secret: Uint8Array, wrong: string | null): FastifyReply {
    const sealed = sealExpiring(cipher, clock, contextOf(who), { secret: Buffer.from(secret).toString("base64url") }, setupMs);
    const key = (base32(secret).match(/.{4}/g) ?? []).join(" ");
    const body = html`<p>Scan the code with an authenticator app on your phone, or enter the key there.</p>
${qrCode(otpauthUrl(secret, issuer, who.email))}
<p class="key"><span class="quiet small">Key</span> <code>${key}</code></p>
<form method="post" action="${visits.href(path)}">
${alertMessage(wrong)}${visits.sessionToken(request)}${hiddenField("sealed", sealed)}
${field({ name: "code", label: "Code of the app", type: "text", autocomplete: "one-time-code", maxLength: 20, hint: "6 digits. All your other sessions will end.", isInvalid: wrong !== null })}
<button type="submit">Turn on</button>
</form>
<p><a href="${visits.href("/account/security")}">Cancel</a></p>`;
    return sendPage(reply, visits, { title: "Set up an authenticator app", body, status: wrong === null ? 200 : 400 });
  }

  function showCodes(reply: FastifyReply, codes: readonly string[]): FastifyReply {
    const body = html`<p>With each of these codes you can sign in once when you do not have your app. Keep them where you keep your passwords.</p>
<ol class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
<p class="notice" role="status">They are shown only now. Earlier codes do not work any more.</p>
<p><a class="button" href="${visits.href("/account/security")}">I have kept them</a></p>`;
    return sendPage(reply, visits, { title: "Your recovery codes", body });
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
      if (pending === null) return show(request, reply, who, parts.random(secretBytes), "The page has expired: scan the new code.");
      const secret = Buffer.from(pending.secret, "base64url");
      const step = stepOf(secret, form.text("code").replace(/\s/g, ""), clock.now());
      if (step === null)
        return show(request, reply, who, secret, "The code is wrong. Check the clock of your phone, and enter the next code.");
      const codes = await pages.change(request, who, (change) => addAuthenticator(change, cipher, { secret, step }));
      return codes === null ? pages.refuse(request, reply, who, "You have an authenticator app already.") : showCodes(reply, codes);
    }),
  );

  app.post(
    "/account/security/codes",
    pages.proven(async (request, reply, who) => {
      visits.sessionForm(request);
      const codes = await pages.change(request, who, replaceRecoveryCodes);
      return codes === null ? pages.refuse(request, reply, who, "Set up an authenticator app first.") : showCodes(reply, codes);
    }),
  );
}
