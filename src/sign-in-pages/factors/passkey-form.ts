import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { type Html, html, words } from "../html.ts";

const text = readFileSync(new URL("./passkey.js", import.meta.url), "utf8");

/**
 * The path of the one script of the pages. It contains the digest, so that browsers can cache it permanently.
 */
export const passkeyScript = `/assets/passkey-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.js`;

export function passkeyScriptRoute(app: FastifyInstance): void {
  app.get(passkeyScript, async (_request, reply) =>
    reply
      .header("Cache-Control", "public, max-age=31536000, immutable")
      .type("text/javascript; charset=utf-8")
      .send(text),
  );
}

interface PasskeyForm {
  /** What the browser does: makes a passkey, or uses one. */
  readonly asks: "create" | "get";
  /**
   * Where the form goes, with the browser's answer. The challenge comes from the same path with `/options`.
   */
  readonly action: string;
  /** Hidden fields and inputs; the token is one of them. */
  readonly fields: Html;
  readonly button: Html;
}

/**
 * A form that the script completes with the answer of a passkey. Browsers without passkeys do not show what
 * `whereSupported` has.
 */
export const passkeyForm = ({ asks, action, fields, button }: PasskeyForm): Html =>
  html`<form class="passkey" method="post" action="${action}" data-passkey="${asks}" data-options="${action}/options" data-refused="${words("No passkey was used. Try again.", "Es wurde kein Passkey benutzt. Versuchen Sie es erneut.")}" data-known="${words("This device has a passkey for this account already.", "Dieses Gerät hat schon einen Passkey für dieses Konto.")}" data-stale="${words("This page has expired. Reload it and try again.", "Diese Seite ist abgelaufen. Laden Sie sie neu.")}">
<p class="alert" role="alert" hidden></p>
${fields}<input type="hidden" name="credential" value="">
${button}
</form>`;

/** Content that the script shows where the browser has passkeys. */
export const whereSupported = (content: Html): Html => html`<div data-with-passkeys hidden>${content}</div>`;
