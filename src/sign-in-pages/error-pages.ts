import type { FastifyInstance } from "fastify";
import type { Reason } from "../core/failure.ts";
import { notFound } from "../core/failure.ts";
import { connectAnswers, connectCodes, v1Answers, v2Answers } from "../http/failure.ts";
import { failureTexts, reasons } from "../http/failure-texts.ts";
import { type Html, html, words } from "./html.ts";
import { type Page, sendPage } from "./page.ts";
import type { ConsoleParts } from "./parts.ts";

/**
 * The address of the pages below CONSENT_URL; `error.doc_url` of v2 leads to them (spec/decisions.md 104).
 */
export const errorPagesPath = "/errors";

/**
 * A page for each failure, and one that lists them. They need no sign-in and hold nothing of a caller. They
 * are documentation, in English.
 */
export function errorPages(app: FastifyInstance, { visits }: ConsoleParts): void {
  const { base } = visits;
  app.get(errorPagesPath, async (_request, reply) => sendPage(reply, visits, listPage(base)));
  app.get<{ Params: { readonly reason: string } }>(`${errorPagesPath}/:reason`, async ({ params }, reply) => {
    const reason = reasons.find((each) => each === params.reason);
    if (reason === undefined) throw notFound("error");
    return sendPage(reply, visits, errorPage(base, reason));
  });
}

const listPage = (base: string): Page => ({
  title: words("Errors of the API", "Fehler der API"),
  body: html`<ul>${reasons.map((reason) => html`<li><a href="${base}${errorPagesPath}/${reason}"><code>${reason}</code></a></li>`)}</ul>`,
});

function errorPage(base: string, reason: Reason): Page {
  const { meaning, causes, remedy } = failureTexts[reason];
  const [v2, connect, v1] = [v2Answers[reason], connectAnswers[reason], v1Answers[reason]];
  const body = html`<div lang="en"><p>${formatted(meaning)}</p>
<h2>Causes</h2>
<ul>${causes.map((cause) => html`<li>${formatted(cause)}</li>`)}</ul>
<h2>What to do</h2>
<p>${formatted(remedy)}</p>
<h2>On each wire</h2>
<ul>
<li>v2: ${v2.status} <code>${v2.code}</code></li>
<li>Connect: ${connect.status} <code>${connect.code}</code></li>
<li>gRPC: code ${connectCodes[reason]}</li>
<li>v1: ${v1.status}, code ${v1.code}</li>
</ul>
<p class="quiet small"><a href="${base}${errorPagesPath}">All errors</a></p></div>`;
  return { title: html`${reason}`, body };
}

/** A text with its words in backticks as code. */
const formatted = (text: string): Html =>
  html`${text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
