import type { FastifyReply } from "fastify";
import { type Html, html } from "./html.ts";
import { stylePath } from "./style.ts";

/** A page as a handler makes it. */
export interface Page {
  /** The one heading, and what the tab says. */
  readonly title: string;
  /** What stands below the heading. */
  readonly body: Html;
  /** 200 unless said otherwise. */
  readonly status?: number;
  /** Beside our own origin, where its forms may lead to, redirects included: origins or schemes (contract/decisions.md 36). */
  readonly formAction?: readonly string[];
}

/** What CSP takes as a source here: an origin, or a scheme with its colon; nothing that could begin another directive. */
const source = /^([a-z][a-z0-9+.-]*:|https?:\/\/[a-z0-9.:[\]-]+)$/;

/**
 * The security policy of a page: no script, styles and images of our own, forms to
 * ourselves, never inside of another page.
 *
 * @throws Error for a source that is none: the caller forgot to check it.
 */
export function contentSecurityPolicy(formAction: readonly string[] = []): string {
  const stray = formAction.find((entry) => !source.test(entry));
  if (stray !== undefined) throw new Error("a form action is neither an origin nor a scheme");
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["form-action 'self'", ...formAction].join(" "),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** Headers of every page, whatever is on it. No Cross-Origin-Opener-Policy: apps open the consent page in a window that has to find back to them. */
const pageHeaders: Readonly<Record<string, string>> = {
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Type": "text/html; charset=utf-8",
};

/** @param base the path that all pages are below; empty for the root. */
export function sendPage(reply: FastifyReply, base: string, page: Page): FastifyReply {
  return reply
    .code(page.status ?? 200)
    .headers({ ...pageHeaders, "Content-Security-Policy": contentSecurityPolicy(page.formAction) })
    .send(documentOf(base, page).toString());
}

/** A redirect that turns a POST into a GET, and is remembered by nobody. */
export function sendTo(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(303).headers({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", Location: location }).send("");
}

const mark = html`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><rect x="2" y="2" width="20" height="20" rx="6" fill="none" stroke="currentColor" stroke-width="2"/><path d="M7 12.5l3.5 3.5L17 9" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

const documentOf = (base: string, { title, body }: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Agent Task Platform</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}${stylePath}">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>${mark}Agent Task Platform</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
