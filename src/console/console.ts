import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure, failureOf, type Reason } from "../core/failure.ts";
import { accessRequestRoutes } from "./access-request.ts";
import { accountRoutes } from "./account.ts";
import { passkeyScriptRoute } from "./factors/passkey-form.ts";
import { secondStepRoutes } from "./factors/second-step.ts";
import { securityRoutes } from "./factors/security.ts";
import { acceptFormBodies } from "./form.ts";
import { html } from "./html.ts";
import { mailedLinkRoutes } from "./mailed-link.ts";
import { type Page, sendPage, styleRoute } from "./page.ts";
import { type ConsoleParts, requestOrigin } from "./parts.ts";
import { passwordRoutes } from "./password.ts";
import { proveRoutes } from "./prove.ts";
import { linkRoutes, signInRoutes } from "./sign-in.ts";
import { singleSignOnRoutes } from "./single-sign-on.ts";

/** Status and text for users; the failure's own text is not shown, because it can be from any layer. */
const answers: Readonly<Partial<Record<Reason, readonly [status: number, title: string, text: string]>>> = {
  invalid_argument: [400, "Invalid request", "The request is not valid. Go back and try again."],
  permission_denied: [
    403,
    "Please try again",
    "This form has expired, or it was not sent from this site. Go back, reload the page and submit the form again.",
  ],
  not_found: [404, "Page not found", "There is no such page."],
  rate_limited: [429, "Too many attempts", "Wait a minute, then try again."],
  too_large: [413, "Form too large", "The submitted form is too large."],
  deadline_exceeded: [408, "Request timed out", "The form did not arrive in time. Submit it again."],
  unsupported_media_type: [415, "Unsupported content type", "This page accepts only its form."],
  unavailable: [503, "Temporarily unavailable", "The service is temporarily unavailable. Try again in a few seconds."],
};

/** Answers an error in a page's handler; the page shows only the request's ID. */
function sendRefusal(parts: ConsoleParts, request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply {
  const failure = fromFastify(thrown) ?? failureOf(thrown);
  const { requestId } = requestOrigin(parts, request);
  parts.report(failure, requestId);
  if (failure.retryAfter !== undefined) reply.header("Retry-After", String(failure.retryAfter));
  return sendPage(reply, parts.visits, refusalPage(failure, requestId));
}

/** When to try again, if that is not within a minute or two. */
const laterText = ({ retryAfter = 0 }: Failure): string | false =>
  retryAfter > 120 && `Try again in ${Math.ceil(retryAfter / 60)} minutes.`;

function refusalPage(failure: Failure, requestId: string): Page {
  const { reason } = failure;
  const [status, title, text] = answers[reason] ?? [
    500,
    "Something went wrong",
    "This is an error on our side. It was logged. Try again in a moment.",
  ];
  return { status, title, body: html`<p>${laterText(failure) || text}</p><p class="quiet small">Request ${requestId}</p>` };
}

/** Converts Fastify's own refusals: a body too large, or not a form. */
function fromFastify(thrown: unknown): Failure | null {
  if (thrown instanceof Failure || typeof thrown !== "object" || thrown === null || !("statusCode" in thrown)) return null;
  if (thrown.statusCode === 413) return new Failure("too_large", "the form is too large");
  if (thrown.statusCode === 415) return new Failure("unsupported_media_type", "the body must be a form");
  return typeof thrown.statusCode === "number" && thrown.statusCode < 500
    ? new Failure("invalid_argument", "the request cannot be read")
    : null;
}

/** Registers more pages in the scope that reads forms and shows failures as pages. */
export type MorePages = (app: FastifyInstance, parts: ConsoleParts) => void;

/** The web pages at CONSENT_URL, in a separate scope. */
export function consolePages(app: FastifyInstance, parts: ConsoleParts, more: readonly MorePages[] = []): void {
  acceptFormBodies(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("X-Request-Id", requestOrigin(parts, request).requestId);
  });
  app.setErrorHandler((thrown, request, reply) => sendRefusal(parts, request, reply, thrown));
  styleRoute(app);
  passkeyScriptRoute(app);
  signInRoutes(app, parts);
  secondStepRoutes(app, parts);
  accessRequestRoutes(app, parts);
  linkRoutes(app, parts);
  if (parts.mailLink) mailedLinkRoutes(app, parts, parts.mailLink);
  accountRoutes(app, parts);
  passwordRoutes(app, parts);
  proveRoutes(app, parts);
  securityRoutes(app, parts);
  if (parts.provider) singleSignOnRoutes(app, parts, parts.provider);
  for (const pages of more) pages(app, parts);
}
