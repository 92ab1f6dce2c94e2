import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { openExpiring, sealExpiring } from "../../core/cipher.ts";
import {
  countCode,
  passSecondStep,
  type SecondStep,
  secondStepMs,
  UsedTicket,
} from "../../core/sign-in/second-step.ts";
import { type IdentityProof, needsSecondStep } from "../../core/sign-in/start-session.ts";
import { isAppRequest } from "../access-request.ts";
import { enterOrChooseSpace, enterSpace, signInTarget } from "../entrance.ts";
import { alertMessage, field, hiddenField, postForm } from "../form.ts";
import { type Html, html, words } from "../html.ts";
import { withNotice } from "../notice.ts";
import { sendPage, sendRedirect } from "../page.ts";
import { type ConsoleParts, queryText, requestOrigin } from "../parts.ts";
import { continueWord, startAgain, wrongCode } from "../words.ts";

const context = "second step";
const codePath = "/sign-in/code";

/** A person who has proven the first step, and where they go. */
interface Entering {
  readonly proven: IdentityProof;
  readonly email: string;
  readonly next: string;
  /** The space of a link; null: the person chooses. */
  readonly spaceId: string | null;
}

/** Asks for the second step. The browser gets a sealed ticket, no session. */
export function askForCode(
  parts: ConsoleParts,
  reply: FastifyReply,
  { proven, email, next, spaceId }: Entering,
): FastifyReply {
  const { visits, cipher, clock } = parts;
  const id = Buffer.from(parts.random(16)).toString("base64url");
  const ticket: SecondStep = { id, expiresAt: clock.now() + secondStepMs, proven, email, spaceId };
  visits.setCookie(
    reply,
    "second-step",
    sealExpiring(cipher, clock, context, ticket, secondStepMs),
    secondStepMs,
  );
  return sendRedirect(reply, visits.href(codePath, next));
}

/** Signs a person in who has proven the first step, or asks for the second one. */
export async function enterOrAskForCode(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  entering: Entering,
): Promise<FastifyReply> {
  return (await needsSecondStep(parts.store, entering.proven))
    ? askForCode(parts, reply, entering)
    : enterOrChooseSpace(parts, request, reply, entering.proven, entering.next);
}

/** `/sign-in/code`: the second step, with a code of the authenticator app or a recovery code. */
export function secondStepRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock, cipher } = parts;

  const ticketOf = (request: FastifyRequest): SecondStep | null =>
    openExpiring<SecondStep>(cipher, clock, context, visits.cookie(request, "second-step") ?? "");

  function form(
    request: FastifyRequest,
    reply: FastifyReply,
    next: string,
    wrong: Html | null,
  ): FastifyReply {
    const body = html`<p>${words("Enter the code that your authenticator app shows for this site.", "Geben Sie den Code ein, den Ihre Authenticator-App für diese Seite zeigt.")}</p>
${postForm(
  visits.href(codePath),
  html`${alertMessage(wrong)}${visits.visitorToken(request, reply)}${hiddenField("next", next)}
${field({ name: "code", label: words("Code", "Code"), autocomplete: "one-time-code", maxLength: 40, hint: words("6 digits. Without your app, enter one of your recovery codes.", "6 Ziffern. Ohne Ihre App geben Sie einen Ihrer Wiederherstellungscodes ein."), isInvalid: wrong !== null })}`,
  continueWord,
)}
<p class="quiet small">${words("Neither app nor recovery code? Ask your administrator to reset your second step.", "Weder App noch Wiederherstellungscode? Bitten Sie Ihren Administrator, den zweiten Schritt zurückzusetzen.")} <a href="${visits.signInHref(next)}">${startAgain}</a></p>`;
    return sendPage(reply, visits, {
      title: words("Second step", "Zweiter Schritt"),
      body,
      status: wrong === null ? 200 : 401,
    });
  }

  const restart = (reply: FastifyReply, next: string): FastifyReply => {
    visits.setCookie(reply, "second-step", null);
    return sendRedirect(reply, visits.signInHref(next));
  };

  app.get(codePath, async (request, reply) => {
    const next = signInTarget(parts, queryText(request, "next"));
    return ticketOf(request) === null ? restart(reply, next) : form(request, reply, next, null);
  });

  app.post(codePath, async (request, reply) => {
    const sent = visits.visitorForm(request);
    const next = signInTarget(parts, sent.text("next"));
    const ticket = ticketOf(request);
    if (ticket === null) return restart(reply, next);
    const second = await prove(request, ticket, sent.text("code"));
    if (second === "used") return restart(reply, next);
    if (second === null) return form(request, reply, next, wrongCode);
    visits.setCookie(reply, "second-step", null);
    const proven = { ...ticket.proven, second };
    if (second === "recovery code") await warn(ticket);
    // A request of an app must stay as the app sent it.
    const target = second === "code" || isAppRequest(parts, next) ? next : withNotice(next, "recovery-code");
    return ticket.spaceId === null
      ? enterOrChooseSpace(parts, request, reply, proven, target)
      : enterSpace(parts, request, reply, proven, ticket.spaceId, target);
  });

  async function prove(request: FastifyRequest, ticket: SecondStep, code: string) {
    const { accountId } = ticket.proven;
    await parts.countAttempt(ticket.email, requestOrigin(parts, request).address);
    await countCode(store.counters, clock, accountId);
    try {
      return await store.change((tx) => passSecondStep(tx, cipher, ticket, code, clock.now()));
    } catch (thrown) {
      if (thrown instanceof UsedTicket) return "used" as const;
      throw thrown;
    }
  }

  /** A recovery code may be known to another person. */
  async function warn({ email, proven }: SecondStep): Promise<void> {
    parts.sendRecoveryMail?.({ email, left: await store.factors.countRecoveryCodes(proven.accountId) });
  }
}
