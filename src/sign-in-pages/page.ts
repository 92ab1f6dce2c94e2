import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Html, html, type Locale, localeOf, words } from "./html.ts";

const text = readFileSync(new URL("./style.css", import.meta.url), "utf8");

/** The style sheet's path contains its digest, so that browsers can cache it permanently. */
export const stylePath = `/assets/style-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.css`;

/** Serves the one style sheet of all pages. */
export function styleRoute(app: FastifyInstance): void {
  app.get(stylePath, async (_request, reply) =>
    reply
      .header("Cache-Control", "public, max-age=31536000, immutable")
      .type("text/css; charset=utf-8")
      .send(text),
  );
}

/** The icon of the console. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect x='2' y='2' width='20' height='20' rx='6' fill='%230d6570'/%3E%3Cpath d='M7 12.5l3.5 3.5L17 9' fill='none' stroke='%23fff' stroke-width='2.4'/%3E%3C/svg%3E";

/** A page as a handler makes it. */
export interface Page {
  /** The heading and the title of the tab. */
  readonly title: Html;
  /** The HTML below the heading. */
  readonly body: Html;
  /** 200 if omitted. */
  readonly status?: number;
  /**
   * More allowed targets of its forms and their redirects in addition to this origin: origins or schemes
   * (spec/decisions.md 36).
   */
  readonly formAction?: readonly string[];
  /** The path of its script; none if omitted. */
  readonly script?: string;
}

/** A CSP source: an origin, or a scheme with its colon; it cannot contain another directive. */
const source = /^([a-z][a-z0-9+.-]*:|https?:\/\/[a-z0-9.:[\]-]+)$/;

/** One script of this site, which cannot turn texts into code, and its calls. */
const scriptPolicy = [
  "script-src 'self'",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/**
 * The security policy of a page: no scripts unless it has one of this site, styles and images of this origin
 * only, forms to this origin, no embedding in other pages.
 *
 * @throws Error for an invalid source: the caller must have checked it.
 */
export function contentSecurityPolicy(formAction: readonly string[] = [], hasScript = false): string {
  const invalid = formAction.find((entry) => !source.test(entry));
  if (invalid !== undefined) throw new Error("a form action is neither an origin nor a scheme");
  return [
    "default-src 'none'",
    ...(hasScript ? scriptPolicy : []),
    "style-src 'self'",
    "img-src 'self' data:",
    ["form-action 'self'", ...formAction].join(" "),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/**
 * Headers of every page. No Cross-Origin-Opener-Policy: apps open the consent page in a window that needs its
 * opener.
 */
const pageHeaders: Readonly<Record<string, string>> = {
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Content-Type": "text/html; charset=utf-8",
};

export interface Site {
  /** The parent path of all pages; empty for the root. */
  readonly base: string;
  /** The path that the header leads to. */
  readonly home: string;
}

/** The page of an address without one. */
export const notFoundPage: Page = {
  status: 404,
  title: words("Page not found", "Seite nicht gefunden"),
  body: html`<p>${words("There is no such page.", "Diese Seite gibt es nicht.")}</p>`,
};

export function sendPage(reply: FastifyReply, site: Site, page: Page): FastifyReply {
  return reply
    .code(page.status ?? 200)
    .headers({
      ...pageHeaders,
      "Content-Security-Policy": contentSecurityPolicy(page.formAction, page.script !== undefined),
    })
    .send(documentOf(site, page, localeOf(reply.request.headers["accept-language"])));
}

/** A redirect that turns a POST into a GET and is not cached. */
export function sendRedirect(reply: FastifyReply, location: string): FastifyReply {
  return reply
    .code(303)
    .headers({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", Location: location })
    .send("");
}

const mark = html`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><rect x="2" y="2" width="20" height="20" rx="6" fill="none" stroke="currentColor" stroke-width="2"/><path d="M7 12.5l3.5 3.5L17 9" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

const documentOf = ({ base, home }: Site, { title, body, script }: Page, locale: Locale): string =>
  html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<title>${title} · Agent Task Platform</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${base}${stylePath}">
${
  script !== undefined &&
  html`<script src="${base}${script}" defer></script>
`
}</head>
<body>
<a class="skip" href="#main">${words("Skip to content", "Zum Inhalt")}</a>
<header><a href="${home}">${mark}Agent Task Platform</a></header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.toString(locale);
