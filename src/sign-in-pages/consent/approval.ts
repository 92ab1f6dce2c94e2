import type { FastifyRequest } from "fastify";
import { openExpiring, sealExpiring } from "../../core/cipher.ts";
import type { CreationContext } from "../../core/keys/api-key.ts";
import { type ClientSwitches, isClientId, isTurnedOff, type OAuthApp } from "../../core/oauth/app.ts";
import { type AuthorizationRequest, responseLocation } from "../../core/oauth/authorization.ts";
import { type ClientDocuments, isDocumentClientId } from "../../core/oauth/client-documents.ts";
import { codeDigest, codeText, type IssuedCode } from "../../core/oauth/code.ts";
import { approve, requiresConsent } from "../../core/oauth/consent.ts";
import type { Session, SignInSpace } from "../../core/sign-in/sign-in.ts";
import type { RequestOrigin } from "../../core/sign-in/start-session.ts";
import type { Tx } from "../../core/store.ts";
import { type Authorization, readAuthorization } from "../../oauth/authorize/request.ts";
import { type FormFields, hiddenField } from "../form.ts";
import type { Html } from "../html.ts";
import type { ConsoleParts } from "../parts.ts";

/** What a form of the consent page approves: it can be submitted once, for exactly this request. */
interface Ticket {
  /** The input for the authorization code; secret, because the ticket is sealed. */
  readonly nonce: string;
  /** The authorization request, as `normalizedQuery` writes it. */
  readonly query: string;
  /** The app's generation that the user saw. */
  readonly generation: number;
  /** The full page was shown, not the short confirmation. */
  readonly full: boolean;
}

/**
 * Shorter than the retention of idempotency records, so that a used nonce is known while its form is valid.
 */
const ticketMs = 3_600_000;
const context = "consent form";
const fieldName = "ticket";

type Parts = Pick<ConsoleParts, "cipher" | "clock" | "ids">;

/** The hidden field of a new form. */
export function ticketInput(
  { cipher, clock, ids }: Parts,
  query: string,
  app: Pick<OAuthApp, "generation">,
  full: boolean,
): Html {
  const ticket: Ticket = { nonce: ids.short(), query, generation: app.generation, full };
  return hiddenField(fieldName, sealExpiring(cipher, clock, context, ticket, ticketMs));
}

/** Opens the form's ticket; null if it is invalid, for another request, or expired. */
export function openTicket({ cipher, clock }: Parts, form: FormFields, query: string): Ticket | null {
  const ticket = openExpiring<Ticket>(cipher, clock, context, form.text(fieldName));
  return ticket?.query === query ? ticket : null;
}

/** The team of a space, with the account's active membership. */
export type Membership = NonNullable<SignInSpace["team"]>;

/**
 * The account's membership in an app's team, for a session in any space; null for
 * accounts that are not members, and in a personal space (spec/decisions.md 28).
 */
export async function findMembership(
  tx: Pick<Tx, "signIns">,
  accountId: string,
  spaceId: string,
): Promise<Membership | null> {
  const places = await tx.signIns.listSpaces(accountId);
  return places.find((place) => place.spaceId === spaceId)?.team ?? null;
}

/** The path of the authorization endpoint (spec/oauth.md 4). */
export const authorizePath = "/openapi/oauth";

/** A request's query in normalized form, which stays the same through sign-in and forms. */
export const normalizedQuery = (request: FastifyRequest): string =>
  new URLSearchParams(request.url.split("?").slice(1).join("?")).toString();

/** The settings of the installation that decide about authorization requests. */
export interface AuthorizationSettings extends ClientSwitches {
  /** This installation's identifier in responses to apps (RFC 9207). */
  readonly issuer: string;
  /** Clients that describe themselves by a document. */
  readonly documents: ClientDocuments;
}

/** How clients are found: in the database, or by their document. */
export interface FindClients {
  readonly find: Tx["apps"]["find"];
  readonly findDocument: (clientId: string) => Promise<OAuthApp>;
}

/**
 * Reads a request with the app's current state; a malformed client id is not looked up.
 *
 * @throws Failure `invalid_argument` for a document that cannot be used, `rate_limited`
 */
export function readCurrentAuthorization(
  query: string,
  settings: Omit<AuthorizationSettings, "documents">,
  { find, findDocument }: FindClients,
): Promise<Authorization> {
  const findClient = async (clientId: string): Promise<OAuthApp | null> => {
    if (isDocumentClientId(clientId)) return findDocument(clientId);
    return isClientId(clientId) && !isTurnedOff(clientId, settings) ? find(clientId) : null;
  };
  return readAuthorization(new URLSearchParams(query), findClient, settings.issuer);
}

/** A user's action on an app or a connector on a page. */
export type ConsentChange =
  | "AuthorizeApp"
  | "ApproveDevice"
  | "DenyDevice"
  | "ChooseConnectors"
  | "ConnectConnector";

/**
 * Writes the audit row of this change's notes. @param spaceId the space of a grant can differ from the
 * session's
 */
export async function auditConsent(
  tx: Tx,
  { now, ids }: Pick<CreationContext, "now" | "ids">,
  { id, accountId, spaceId: ownSpaceId }: Session,
  { requestId, address }: RequestOrigin,
  action: ConsentChange,
  spaceId = ownSpaceId,
): Promise<void> {
  const { subject = null, before = null, after = null } = tx.audit.notes();
  const entry = {
    id: ids.short(),
    at: now,
    spaceId,
    accountId,
    credential: `session:${id}`,
    requestId,
    address,
  };
  await tx.audit.insert({ ...entry, operation: `console/${action}`, subject, before, after });
}

/** A form that is submitted twice within this time was double-clicked. */
const doubleClickMs = 5_000;

/** A form of the consent page that was submitted with consent. */
export interface ConsentForm {
  readonly ticket: Ticket;
  /** The selected connectors. */
  readonly connectorUids: readonly string[];
  /** The chosen space, as the form has it; counts for an app of no team only. */
  readonly spaceId: string;
  readonly session: Session;
  readonly from: RequestOrigin;
  readonly settings: AuthorizationSettings;
  /** The app of the request. That of a document was fetched before the change. */
  readonly app: OAuthApp;
}

/** The result of a consent form. */
export type Outcome =
  | Exclude<Authorization, { kind: "ask" }>
  /** The user is no longer an active member of the app's team. */
  | { readonly kind: "outsider" }
  /**
   * The user would consent to something that the page did not show, or chose a space in which the account may
   * not act.
   */
  | { readonly kind: "changed" }
  /** The form's code has been issued already. */
  | { readonly kind: "used" };

/**
 * Issues one code per form. The request is checked again with the app's current state,
 * which is locked until the end of the change.
 */
export async function approveOnce(tx: Tx, making: CreationContext, yes: ConsentForm): Promise<Outcome> {
  const { ticket, session, settings } = yes;
  const clients = { find: tx.apps.lock, findDocument: () => tx.apps.putDocument(yes.app) };
  const authorization = await readCurrentAuthorization(ticket.query, settings, clients);
  if (authorization.kind !== "ask") return authorization;
  const { request } = authorization;
  const { clientId } = request.app;
  const { accountId } = session;
  const spaceId = await lockSpace(tx, request.app, accountId, yes.spaceId);
  if (spaceId === null) return { kind: request.app.spaceId === null ? "changed" : "outsider" };
  const grant = await tx.grants.find({ accountId, spaceId, clientId });
  const hasUnseen =
    ticket.generation !== request.app.generation || (!ticket.full && requiresConsent(grant, request));
  if (hasUnseen) return { kind: "changed" };
  const code = codeText(clientId, ticket.nonce);
  const digest = codeDigest(code);
  // One code per form, also when it is sent with several spaces.
  const key = {
    accountId,
    spaceId: request.app.spaceId ?? "",
    clientId,
    operation: "console/AuthorizeApp",
    key: digest,
  };
  if (!(await tx.idempotency.claim(key, "", making.now)))
    return repeatOutcome(
      await tx.codes.find(digest),
      spaceId,
      making.now,
      responseLocation(request, { code }),
    );
  const approval = { request, accountId, spaceId, connectorUids: selectedConnectors(yes, request) };
  const { location, grantId } = await approve(tx, making, approval, ticket.nonce);
  await tx.registrations.markUsed(clientId);
  await tx.idempotency.complete(key, null, grantId);
  await auditConsent(tx, making, session, yes.from, "AuthorizeApp", spaceId);
  return { kind: "redirect", location };
}

/**
 * The space that the app will act in: its team's, or for an app of no team the one that the user chose. Null
 * when the account may not act in it. A change that ends the membership waits for this change and then
 * revokes the grant.
 */
export async function lockSpace(
  tx: Tx,
  app: OAuthApp,
  accountId: string,
  chosen: string,
): Promise<string | null> {
  const spaceId = app.spaceId ?? chosen;
  if (!app.verified && (await tx.apps.deniesUnverified(spaceId))) return null;
  const isPersonal = app.spaceId === null && (await tx.accounts.personalSpace(accountId))?.id === spaceId;
  return isPersonal || (await tx.members.lockActive({ accountId, spaceId })) ? spaceId : null;
}

/** The second click of a double click gets the first one's redirect: the browser drops the first response. */
const repeatOutcome = (code: IssuedCode | null, spaceId: string, now: number, location: string): Outcome =>
  code?.spaceId === spaceId && code.usedAt === null && now - code.createdAt < doubleClickMs
    ? { kind: "redirect", location }
    : { kind: "used" };

/** Null if the page showed no choice of connectors. */
const selectedConnectors = (
  { ticket, connectorUids }: ConsentForm,
  { scopes }: AuthorizationRequest,
): readonly string[] | null => (ticket.full && scopes.includes("use_connectors") ? connectorUids : null);
