import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure, failureOf, type Reason } from "../core/failure.ts";
import { accessRequestRoutes } from "./access-request.ts";
import { accountRoutes } from "./account.ts";
import { passkeyScriptRoute } from "./factors/passkey-form.ts";
import { secondStepRoutes } from "./factors/second-step.ts";
import { securityRoutes } from "./factors/security.ts";
import { acceptFormBodies } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { mailedLinkRoutes } from "./mailed-link.ts";
import { type Page, sendPage, styleRoute } from "./page.ts";
import { type ConsoleParts, requestOrigin } from "./parts.ts";
import { passwordRoutes } from "./password.ts";
import { proveRoutes } from "./prove.ts";
import { linkRoutes, signInRoutes } from "./sign-in.ts";
import { singleSignOnRoutes } from "./single-sign-on.ts";
import { requestNote } from "./words.ts";

/** Status and text for users; the failure's own text is not shown, because it can be from any layer. */
const answers: Readonly<Partial<Record<Reason, readonly [status: number, title: Html, text: Html]>>> = {
  invalid_argument: [
    400,
    words("Invalid request", "Ungültige Anfrage"),
    words(
      "The request is not valid. Go back and try again.",
      "Die Anfrage ist nicht gültig. Gehen Sie zurück, und versuchen Sie es erneut.",
    ),
  ],
  permission_denied: [
    403,
    words("Please try again", "Bitte versuchen Sie es erneut"),
    words(
      "This form has expired, or it was not sent from this site. Go back, reload the page and submit the form again.",
      "Dieses Formular ist abgelaufen, oder es wurde nicht von dieser Seite gesendet. Gehen Sie zurück, laden Sie die Seite neu, und senden Sie das Formular erneut.",
    ),
  ],
  not_found: [
    404,
    words("Page not found", "Seite nicht gefunden"),
    words("There is no such page.", "Diese Seite gibt es nicht."),
  ],
  rate_limited: [
    429,
    words("Too many attempts", "Zu viele Versuche"),
    words("Wait a minute, then try again.", "Warten Sie eine Minute, und versuchen Sie es erneut."),
  ],
  too_large: [
    413,
    words("Form too large", "Formular zu groß"),
    words("The submitted form is too large.", "Das gesendete Formular ist zu groß."),
  ],
  deadline_exceeded: [
    408,
    words("Request timed out", "Zeit überschritten"),
    words(
      "The form did not arrive in time. Submit it again.",
      "Das Formular kam nicht rechtzeitig an. Senden Sie es erneut.",
    ),
  ],
  unsupported_media_type: [
    415,
    words("Unsupported content type", "Falscher Inhaltstyp"),
    words("This page accepts only its form.", "Diese Seite nimmt nur ihr Formular an."),
  ],
  unavailable: [
    503,
    words("Temporarily unavailable", "Zurzeit nicht verfügbar"),
    words(
      "The service is temporarily unavailable. Try again in a few seconds.",
      "Der Dienst ist zurzeit nicht verfügbar. Versuchen Sie es in einigen Sekunden erneut.",
    ),
  ],
};

/** Answers an error in a page's handler; the page shows only the request's ID. */
function sendRefusal(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
): FastifyReply {
  const failure = fromFastify(thrown) ?? failureOf(thrown);
  const { requestId } = requestOrigin(parts, request);
  parts.report(failure, requestId);
  if (failure.retryAfter !== undefined) reply.header("Retry-After", String(failure.retryAfter));
  return sendPage(reply, parts.visits, refusalPage(failure, requestId));
}

/** When to try again, if that is not within a minute or two. */
const laterText = ({ retryAfter = 0 }: Failure): Html | false =>
  retryAfter > 120 &&
  words(
    `Try again in ${Math.ceil(retryAfter / 60)} minutes.`,
    `Versuchen Sie es in ${Math.ceil(retryAfter / 60)} Minuten erneut.`,
  );

function refusalPage(failure: Failure, requestId: string): Page {
  const { reason } = failure;
  const [status, title, text] = answers[reason] ?? [
    500,
    words("Something went wrong", "Etwas ist schiefgegangen"),
    words(
      "This is an error on our side. It was logged. Try again in a moment.",
      "Das ist ein Fehler auf unserer Seite. Er wurde aufgezeichnet. Versuchen Sie es gleich erneut.",
    ),
  ];
  return { status, title, body: html`<p>${laterText(failure) || text}</p>${requestNote(requestId)}` };
}

/** Converts Fastify's own refusals: a body too large, or not a form. */
function fromFastify(thrown: unknown): Failure | null {
  if (thrown instanceof Failure || typeof thrown !== "object" || thrown === null || !("statusCode" in thrown))
    return null;
  if (thrown.statusCode === 413) return new Failure("too_large", "the form is too large");
  if (thrown.statusCode === 415) return new Failure("unsupported_media_type", "the body must be a form");
  return typeof thrown.statusCode === "number" && thrown.statusCode < 500
    ? new Failure("invalid_argument", "the request cannot be read")
    : null;
}

/** Registers more pages in the scope that reads forms and shows failures as pages. */
export type MorePages = (app: FastifyInstance, parts: ConsoleParts) => void;

/** The web pages at CONSENT_URL, in a separate scope. */
export function consolePages(
  app: FastifyInstance,
  parts: ConsoleParts,
  more: readonly MorePages[] = [],
): void {
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
