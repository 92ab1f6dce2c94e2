import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";
import { boundedBodies } from "../http/request-body.ts";
import { type Html, html } from "./html.ts";

/** What a form sent: the first value of a name, or all of them. */
export interface FormFields {
  /** Empty when there is none. */
  text(name: string): string;
  all(name: string): readonly string[];
}

/** A form's body is small: passwords have at most 1024 characters. */
const bodyMax = 32 * 1024;
const tokenField = "csrf";

/** Lets a scope read forms, and nothing else. */
export function formBodies(app: FastifyInstance): void {
  boundedBodies(app, () => ({ maxBytes: bodyMax, of: "a form" }), { type: "application/x-www-form-urlencoded" });
}

/** The token that a form has to bring, made of the secret in a cookie that only its own page was given. */
const tokenOf = (secret: string): string => createHmac("sha256", secret).update("form").digest("base64url");

/** The hidden field that every form has. */
export const tokenInput = (secret: string): Html => html`<input type="hidden" name="${tokenField}" value="${tokenOf(secret)}">`;

/**
 * The fields of a form that was sent from a page of our own.
 *
 * @param secret the cookie that the page was made for; null when the request has none.
 * @param own the origin of CONSENT_URL.
 * @throws Failure `forbidden` when another site may have sent it.
 */
export function formFields(request: FastifyRequest, secret: string | null, own: string): FormFields {
  const sent = new URLSearchParams(request.body instanceof Buffer ? request.body.toString("utf8") : "");
  if (!fromOwnSite(request.headers, own) || secret === null || !isToken(sent.get(tokenField) ?? "", secret)) throw staleForm();
  return { text: (name) => sent.get(name) ?? "", all: (name) => sent.getAll(name) };
}

/**
 * Browsers that say where a request comes from are believed. Our pages have the
 * policy no-referrer, under which a browser sends `Origin: null` with a form: then
 * Sec-Fetch-Site tells, and the token, without which nothing is read anyway.
 */
export function fromOwnSite(headers: IncomingHttpHeaders, own: string): boolean {
  const { origin, "sec-fetch-site": site } = headers;
  const strange = origin !== undefined && origin !== "null" && origin !== own;
  return !strange && (site === undefined || site === "same-origin");
}

function isToken(text: string, secret: string): boolean {
  const [sent, wanted] = [Buffer.from(text), Buffer.from(tokenOf(secret))];
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}

const staleForm = (): Failure => new Failure("forbidden", "this form is too old, or was not sent from our own page");
