import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure, failureOf, type Reason } from "../core/failure.ts";
import { html } from "./html.ts";
import type { Page } from "./page.ts";
import { sendPage } from "./page.ts";
import { type ConsoleParts, fromOf } from "./parts.ts";

/** What a person is told, and the status; never a failure's own text, which may be of any layer. */
const answers: Readonly<Partial<Record<Reason, readonly [status: number, title: string, text: string]>>> = {
  invalid: [400, "That did not work", "Something in the request is not as it should be. Go back and try again."],
  forbidden: [
    403,
    "Please try again",
    "This form is too old, or was not sent from our own page. Go back, load the page again, and send it once more.",
  ],
  absent: [404, "Nothing here", "There is no such page."],
  limited: [429, "Too many attempts", "Wait a minute, then try again."],
  too_large: [413, "That is too much", "What was sent is larger than any form of ours."],
  late: [408, "That took too long", "The form did not arrive in time. Send it once more."],
  unsupported_media: [415, "That did not work", "This page takes what its own form sends, and nothing else."],
  unavailable: [503, "One moment, please", "We cannot answer just now. Try again in a few seconds."],
};

/** An answer to whatever went wrong while a page was made: it tells nothing but the request's id. */
export function refuse(parts: ConsoleParts, request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply {
  const failure = fromFastify(thrown) ?? failureOf(thrown);
  const { requestId } = fromOf(parts, request);
  parts.report(failure, requestId);
  if (failure.retryAfter !== undefined) reply.header("Retry-After", String(failure.retryAfter));
  return sendPage(reply, parts.visits.base, refusalPage(failure, requestId));
}

function refusalPage({ reason }: Failure, requestId: string): Page {
  const [status, title, text] = answers[reason] ?? [500, "Something went wrong", "It is our fault, and was noted. Try again in a moment."];
  return { status, title, body: html`<p>${text}</p><p class="quiet small">Request ${requestId}</p>` };
}

/** What Fastify itself refuses: a body too large, or of a type that no form has. */
function fromFastify(thrown: unknown): Failure | null {
  if (thrown instanceof Failure || typeof thrown !== "object" || thrown === null || !("statusCode" in thrown)) return null;
  if (thrown.statusCode === 413) return new Failure("too_large", "the form is too large");
  if (thrown.statusCode === 415) return new Failure("unsupported_media", "the body must be a form");
  return typeof thrown.statusCode === "number" && thrown.statusCode < 500 ? new Failure("invalid", "the request cannot be read") : null;
}
