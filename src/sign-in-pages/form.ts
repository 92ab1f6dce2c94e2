import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { boundedBodies } from "../http/request-body.ts";
import { type Html, html, type Part } from "./html.ts";

/** An input with its label; screen readers read `hint` and the alert above the form with it. */
export interface Field {
  readonly name: string;
  readonly label: Html;
  /** The type of the input follows from it. */
  readonly autocomplete: "username" | "current-password" | "new-password" | "one-time-code" | "off";
  readonly value?: string;
  readonly hint?: Html;
  /** The most characters; any number if omitted. */
  readonly maxLength?: number;
  /** The form was submitted, and this value must be corrected. */
  readonly isInvalid?: boolean;
  /** A code in capital letters, which no browser corrects. */
  readonly isCode?: boolean;
}

const alertId = "alert";

/** Renders a field. Its id is its name, so names are unique on a page. */
export function field({
  name,
  label,
  autocomplete,
  value,
  hint,
  maxLength,
  isInvalid = false,
  isCode = false,
}: Field): Html {
  const type =
    autocomplete === "username" ? "email" : autocomplete.endsWith("-password") ? "password" : "text";
  const describedBy = [hint && `${name}-hint`, isInvalid && alertId].filter(Boolean).join(" ");
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${isCode && html` class="code" autocapitalize="characters" autocorrect="off" spellcheck="false"`}${maxLength !== undefined && html` maxlength="${maxLength}"`}${value !== undefined && html` value="${value}"`}${describedBy !== "" && html` aria-describedby="${describedBy}"`}${isInvalid && html` aria-invalid="true"`}>
${hint && html`<span class="hint" id="${name}-hint">${hint}</span>`}
</div>`;
}

/** The error message above a form. */
export const alertMessage = (text: Html | null): Html | null =>
  text === null ? null : html`<p class="alert" id="${alertId}" role="alert">${text}</p>`;

export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

type Tone = "secondary" | "danger";

/**
 * A form of this site with one button. @param fields the token, which every form has, and what the person
 * fills in
 */
export const postForm = (
  action: string,
  fields: Part,
  button: Html,
  tone?: Tone,
): Html => html`<form method="post" action="${action}">
${fields}
<button${tone && html` class="${tone}"`} type="submit">${button}</button>
</form>`;

/** A link that looks like a button, as a paragraph. */
export const buttonLink = (href: string, text: Html, tone?: Tone): Html =>
  html`<p><a class="button${tone && ` ${tone}`}" href="${href}">${text}</a></p>`;

export interface FormFields {
  /** Returns the first value of a name; empty if there is none. */
  text(name: string): string;
  all(name: string): readonly string[];
}

/** A form's body is small: passwords have at most 1024 characters. */
const bodyMax = 32 * 1024;
const tokenField = "csrf";

/** Makes a scope accept form bodies only. */
export function acceptFormBodies(app: FastifyInstance): void {
  boundedBodies(app, {
    bound: { maxBytes: bodyMax, name: "a form" },
    type: "application/x-www-form-urlencoded",
  });
}

/** The CSRF token of a form, derived from the secret in a cookie that only this site's pages set. */
const tokenOf = (secret: string): string => createHmac("sha256", secret).update("form").digest("base64url");

/** The hidden field with the CSRF token; every form has it. */
export const tokenInput = (secret: string): Html =>
  html`<input type="hidden" name="${tokenField}" value="${tokenOf(secret)}">`;

/**
 * Reads the fields of a form that was submitted from a page of this site.
 *
 * @param secret the cookie's secret; null if the request has no cookie.
 * @param own the origin of CONSENT_URL.
 * @throws Failure `permission_denied` if another site may have sent it.
 */
export function formFields(request: FastifyRequest, secret: string | null, own: string): FormFields {
  const sent = new URLSearchParams(request.body instanceof Buffer ? request.body.toString("utf8") : "");
  if (!isFromOwnSite(request.headers, own) || secret === null || !isToken(sent.get(tokenField) ?? "", secret))
    throw staleForm();
  return { text: (name) => sent.get(name) ?? "", all: (name) => sent.getAll(name) };
}

/**
 * Checks the origin that the browser reports. The pages have the policy no-referrer,
 * under which browsers send `Origin: null` with a form: then Sec-Fetch-Site decides,
 * together with the token, which is always required.
 */
export function isFromOwnSite(headers: IncomingHttpHeaders, own: string): boolean {
  const { origin, "sec-fetch-site": site } = headers;
  const isForeign = origin !== undefined && origin !== "null" && origin !== own;
  return !isForeign && (site === undefined || site === "same-origin");
}

function isToken(text: string, secret: string): boolean {
  const [sent, expected] = [Buffer.from(text), Buffer.from(tokenOf(secret))];
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

const staleForm = (): Failure =>
  new Failure("permission_denied", "this form has expired, or it was not sent from this site");
