import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { failureOf } from "../../core/failure.ts";
import { type AuthorizationRequest, errorRedirect } from "../../core/oauth/authorization.ts";
import { declined, needsConsent } from "../../core/oauth/consent.ts";
import type { SessionHolder } from "../../core/sign-in/session.ts";
import { html } from "../html.ts";
import { nextPath } from "../next-path.ts";
import { type Page, sendPage, sendTo } from "../page.ts";
import { type ConsoleParts, fromOf, makingOf } from "../parts.ts";
import { approveOnce } from "./approval.ts";
import { fullPage, shortPage } from "./consent-page.ts";
import { outsiderPage, signInFirstPage, unknownPage, usedPage } from "./dead-ends.ts";
import { membershipIn } from "./membership.ts";
import { authorizationIn, authorizePath, queryOf } from "./request.ts";
import { ticketIn, ticketInput } from "./ticket.ts";

/** An authorization request of somebody who is signed in. */
interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly asked: AuthorizationRequest;
  readonly query: string;
  readonly who: SessionHolder;
}

const changedNotice = "Something has changed since this page was made. Please look at it once more.";

/** `/openapi/oauth`: the page on which a user lets an app act (contract/oauth.md 4). */
export function authorizeRoutes(app: FastifyInstance, parts: ConsoleParts, issuer: string): void {
  const { visits, store } = parts;
  const send = (reply: FastifyReply, page: Page): FastifyReply => sendPage(reply, visits.base, page);
  const here = (query: string): string => visits.href(`${authorizePath}?${query}`);

  app.get(authorizePath, (request, reply) => answer(request, reply, (visit) => show(visit, null)));
  app.post(authorizePath, (request, reply) => answer(request, reply, decide));

  /** What is wrong with the request is told before anybody signs in (contract/decisions.md 27). */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    step: (visit: Visit) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const query = queryOf(request);
    const authorization = await authorizationIn(query, issuer, (clientId) => store.apps.find(clientId));
    if (authorization.kind === "page") return send(reply, unknownPage(authorization.reason));
    if (authorization.kind === "redirect") return sendTo(reply, authorization.location);
    const asked = authorization.request;
    try {
      const who = await visits.currentSession(request, reply);
      return who === null ? signInFirst(reply, query) : await step({ request, reply, asked, query, who });
    } catch (thrown) {
      return failed(request, reply, asked, thrown);
    }
  }

  function signInFirst(reply: FastifyReply, query: string): FastifyReply {
    const next = here(query);
    if (nextPath(visits.base, next) !== null) return sendTo(reply, visits.signInHref(next));
    return send(reply, signInFirstPage(visits.href("/sign-in"), next));
  }

  /** An internal fault is the app's to know of; whatever else has its own page. */
  function failed(request: FastifyRequest, reply: FastifyReply, asked: AuthorizationRequest, thrown: unknown): FastifyReply {
    const failure = failureOf(thrown);
    if (failure.reason !== "internal") throw failure;
    const { requestId } = fromOf(parts, request);
    parts.report(failure, requestId);
    return sendTo(reply, errorRedirect(asked, "server_error", `internal error, request ${requestId}`));
  }

  async function show(visit: Visit, notice: string | null): Promise<FastifyReply> {
    const { request, reply, asked, query, who } = visit;
    const { spaceId, clientId } = asked.app;
    const { accountId } = who.session;
    const team = await membershipIn(store, accountId, spaceId);
    if (team === null) return outside(visit);
    const grant = await store.grants.find({ accountId, spaceId, clientId });
    const full = needsConsent(grant, asked);
    const fields = html`${visits.sessionToken(request)}${ticketInput(parts, query, asked.app, full)}`;
    const action = here(query);
    const told = {
      request: asked,
      grant,
      teamName: team.name,
      account: who,
      action,
      switchHref: visits.signInHref(action),
      fields,
      notice,
    };
    return send(reply, full ? fullPage(told) : shortPage(told));
  }

  const outside = ({ reply, asked, query, who }: Visit): FastifyReply =>
    send(reply, outsiderPage(asked, who.email, visits.signInHref(here(query))));

  async function decide(visit: Visit): Promise<FastifyReply> {
    const { request, reply, asked, query, who } = visit;
    const form = visits.sessionForm(request);
    if (form.text("decision") !== "approve") return sendTo(reply, declined(asked));
    const ticket = ticketIn(parts, form, query);
    if (ticket === null) return show(visit, changedNotice);
    const yes = { ticket, connectorUids: form.all("connector"), session: who.session, from: fromOf(parts, request), issuer };
    const outcome = await store.change((tx) => approveOnce(tx, makingOf(parts), yes));
    switch (outcome.kind) {
      case "page":
        return send(reply, unknownPage(outcome.reason));
      case "redirect":
        return sendTo(reply, outcome.location);
      case "outsider":
        return outside(visit);
      case "used":
        return send(reply, usedPage(asked, here(query)));
      case "changed":
        return showAnew(visit);
    }
  }

  /** The app may have grown since the request was read. */
  async function showAnew(visit: Visit): Promise<FastifyReply> {
    const authorization = await authorizationIn(visit.query, issuer, (clientId) => store.apps.find(clientId));
    if (authorization.kind === "ask") return show({ ...visit, asked: authorization.request }, changedNotice);
    return authorization.kind === "page"
      ? send(visit.reply, unknownPage(authorization.reason))
      : sendTo(visit.reply, authorization.location);
  }
}
