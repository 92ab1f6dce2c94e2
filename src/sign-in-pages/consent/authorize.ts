import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { failureOf } from "../../core/failure.ts";
import { type AuthorizationRequest, errorLocation } from "../../core/oauth/authorization.ts";
import { declinedLocation, requiresConsent } from "../../core/oauth/consent.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import type { Authorization } from "../../oauth/authorize/request.ts";
import { nextPath } from "../entrance.ts";
import { type Html, html, words } from "../html.ts";
import { type Page, sendPage, sendRedirect } from "../page.ts";
import { type ConsoleParts, creationContext, requestOrigin } from "../parts.ts";
import {
  type AuthorizationSettings,
  approveOnce,
  authorizePath,
  type FindClients,
  findMembership,
  normalizedQuery,
  openTicket,
  readCurrentAuthorization,
  ticketInput,
} from "./approval.ts";
import { cliPage } from "./cli-page.ts";
import { fullPage, outsiderPage, shortPage, signInFirstPage, unknownPage, usedPage } from "./consent-page.ts";
import { documentPage, forbiddenPage, refusedPage, unverifiedPage } from "./unverified-page.ts";

interface SignedInRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly authorizationRequest: AuthorizationRequest;
  readonly query: string;
  readonly who: SessionHolder;
}

interface DocumentFault {
  readonly kind: "document";
  /** The rule that the document breaks. */
  readonly fault: string;
}

/** An answer to a request that asks the user nothing. */
type Refusal = Exclude<Authorization, { kind: "ask" }> | DocumentFault;

/** What is wrong with the document of a client. @throws every other error */
function documentFaultOf(thrown: unknown): DocumentFault {
  const { reason, message } = failureOf(thrown);
  if (reason !== "invalid_argument") throw thrown;
  return { kind: "document", fault: message };
}

const changedNotice = words(
  "Something has changed since this page was loaded. Please check it again.",
  "Seit dem Laden dieser Seite hat sich etwas geändert. Bitte prüfen Sie sie erneut.",
);

/** `/openapi/oauth`: the page on which a user grants access to an app (spec/oauth.md 4). */
export function authorizeRoutes(
  app: FastifyInstance,
  parts: ConsoleParts,
  settings: AuthorizationSettings,
): void {
  const { visits, store } = parts;
  const send = (reply: FastifyReply, page: Page): FastifyReply => sendPage(reply, visits, page);
  const requestHref = (query: string): string => visits.href(`${authorizePath}?${query}`);

  const clientsFor = (request: FastifyRequest): FindClients => ({
    find: (clientId) => store.apps.find(clientId),
    findDocument: (clientId) => settings.documents.find(clientId, requestOrigin(parts, request).address),
  });

  app.get(authorizePath, (request, reply) => answer(request, reply, (signedIn) => show(signedIn, null)));
  app.post(authorizePath, (request, reply) => answer(request, reply, decide));

  /** Errors in the request are reported before the user signs in (spec/decisions.md 27). */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    step: (signedIn: SignedInRequest) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const query = normalizedQuery(request);
    const authorization = await readCurrentAuthorization(query, settings, clientsFor(request)).catch(
      documentFaultOf,
    );
    if (authorization.kind !== "ask") return refuse(reply, authorization);
    const authorizationRequest = authorization.request;
    try {
      const who = await visits.currentSession(request, reply);
      return who === null
        ? signInFirst(reply, query)
        : await step({ request, reply, authorizationRequest, query, who });
    } catch (thrown) {
      return redirectFailure(request, reply, authorizationRequest, thrown);
    }
  }

  function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
    if (refusal.kind === "redirect") return sendRedirect(reply, refusal.location);
    if (refusal.kind === "document") return send(reply, documentPage(refusal.fault));
    return send(reply, refusal.kind === "page" ? unknownPage(refusal.reason) : refusedPage(refusal));
  }

  function signInFirst(reply: FastifyReply, query: string): FastifyReply {
    const next = requestHref(query);
    if (nextPath(visits.base, next) !== null) return sendRedirect(reply, visits.signInHref(next));
    return send(reply, signInFirstPage(visits.href("/sign-in"), next));
  }

  /** Reports an internal failure to a verified app; other failures have their own page. */
  function redirectFailure(
    request: FastifyRequest,
    reply: FastifyReply,
    authorizationRequest: AuthorizationRequest,
    thrown: unknown,
  ): FastifyReply {
    const failure = failureOf(thrown);
    if (failure.reason !== "internal" || !authorizationRequest.app.verified) throw failure;
    const { requestId } = requestOrigin(parts, request);
    parts.report(failure, requestId);
    return sendRedirect(
      reply,
      errorLocation(authorizationRequest, "server_error", `internal error, request ${requestId}`),
    );
  }

  async function show(signedIn: SignedInRequest, notice: Html | null): Promise<FastifyReply> {
    const { reply, authorizationRequest, who } = signedIn;
    const { spaceId, clientId } = authorizationRequest.app;
    const { accountId } = who.session;
    if (spaceId === null) return showChoice(signedIn, notice);
    const team = await findMembership(store, accountId, spaceId);
    if (team === null) return sendOutsiderPage(signedIn);
    const grant = await store.grants.find({ accountId, spaceId, clientId });
    const maker = await store.accounts.profile(authorizationRequest.app.creatorId, spaceId);
    const full = requiresConsent(grant, authorizationRequest);
    const page = {
      ...commonContent(signedIn, full),
      grant,
      teamName: team.name,
      maker: maker && (maker.name ?? maker.email),
      notice,
    };
    return send(reply, full ? fullPage(page) : shortPage(page));
  }

  /**
   * The page of an app of no team, always the whole one: any program on the computer can send its request
   * (RFC 8252 8.6).
   */
  async function showChoice(signedIn: SignedInRequest, notice: Html | null): Promise<FastifyReply> {
    const { session } = signedIn.who;
    const { verified } = signedIn.authorizationRequest.app;
    const spaces = await store.signIns.listSpaces(session.accountId);
    const content = { ...commonContent(signedIn, true), notice, currentSpaceId: session.spaceId };
    if (verified) return send(signedIn.reply, cliPage({ ...content, spaces }));
    const denied = await Promise.all(spaces.map(({ spaceId }) => store.apps.deniesUnverified(spaceId)));
    const allowed = spaces.filter((_, at) => !denied[at]);
    if (allowed.length === 0)
      return send(signedIn.reply, forbiddenPage(content, declinedLocation(signedIn.authorizationRequest)));
    return send(signedIn.reply, unverifiedPage({ ...content, spaces: allowed }));
  }

  /** What every consent page has. @param full the page shows all that is requested. */
  function commonContent({ request, authorizationRequest, query, who }: SignedInRequest, full: boolean) {
    const action = requestHref(query);
    return {
      request: authorizationRequest,
      appsHref: visits.apps,
      account: who,
      action,
      switchHref: visits.signInHref(action),
      fields: html`${visits.sessionToken(request)}${ticketInput(parts, query, authorizationRequest.app, full)}`,
    };
  }

  const sendOutsiderPage = ({ reply, authorizationRequest, query, who }: SignedInRequest): FastifyReply =>
    send(reply, outsiderPage(authorizationRequest, who.email, visits.signInHref(requestHref(query))));

  async function decide(signedIn: SignedInRequest): Promise<FastifyReply> {
    const { request, reply, authorizationRequest, query, who } = signedIn;
    const form = visits.sessionForm(request);
    if (form.text("decision") !== "approve")
      return sendRedirect(reply, declinedLocation(authorizationRequest));
    const ticket = openTicket(parts, form, query);
    if (ticket === null) return show(signedIn, changedNotice);
    const chosen = { connectorUids: form.all("connector"), spaceId: form.text("space") };
    const yes = {
      ticket,
      ...chosen,
      session: who.session,
      from: requestOrigin(parts, request),
      settings,
      app: authorizationRequest.app,
    };
    const outcome = await store.change((tx) => approveOnce(tx, creationContext(parts), yes));
    switch (outcome.kind) {
      case "outsider":
        return sendOutsiderPage(signedIn);
      case "used":
        return send(reply, usedPage(authorizationRequest, requestHref(query)));
      case "changed":
        return showChanged(signedIn);
      default:
        return refuse(reply, outcome);
    }
  }

  /** Shows the page again: the app may request more since the request was read. */
  async function showChanged(signedIn: SignedInRequest): Promise<FastifyReply> {
    const authorization = await readCurrentAuthorization(
      signedIn.query,
      settings,
      clientsFor(signedIn.request),
    ).catch(documentFaultOf);
    return authorization.kind === "ask"
      ? show({ ...signedIn, authorizationRequest: authorization.request }, changedNotice)
      : refuse(signedIn.reply, authorization);
  }
}
