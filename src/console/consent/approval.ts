import type { Making } from "../../core/keys/make-key.ts";
import { type AuthorizationRequest, redirectWith } from "../../core/oauth/authorization.ts";
import { codeDigest, codeText, type IssuedCode } from "../../core/oauth/code.ts";
import { approve, needsConsent } from "../../core/oauth/consent.ts";
import type { From } from "../../core/sign-in/enter.ts";
import type { Session } from "../../core/sign-in/session.ts";
import type { Tx } from "../../core/store.ts";
import type { Authorization } from "../../oauth/authorize/request.ts";
import { auditConsent } from "./audit.ts";
import { authorizationIn } from "./request.ts";
import type { Ticket } from "./ticket.ts";

/** A form that is sent twice within this was sent by a double click. */
const doubleClickMs = 5_000;

/** A form of the consent page that was sent with a yes. */
export interface Yes {
  readonly ticket: Ticket;
  /** Those that are ticked. */
  readonly connectorUids: readonly string[];
  readonly session: Session;
  readonly from: From;
  readonly issuer: string;
}

/** What came of it. */
export type Outcome =
  | Exclude<Authorization, { kind: "ask" }>
  /** The person is no active member any more. */
  | { readonly kind: "outsider" }
  /** The user would say yes to what the page did not show. */
  | { readonly kind: "changed" }
  /** The same form has given its code. */
  | { readonly kind: "used" };

/**
 * Gives one code for one form. The request is judged anew, by the app as it is now
 * and stays until the end of the change.
 */
export async function approveOnce(tx: Tx, making: Making, yes: Yes): Promise<Outcome> {
  const { ticket, session, issuer } = yes;
  const authorization = await authorizationIn(ticket.query, issuer, tx.apps.lock);
  if (authorization.kind !== "ask") return authorization;
  const { request } = authorization;
  const { spaceId, clientId } = request.app;
  const { accountId } = session;
  // Whoever ends the membership waits for this change, and revokes what it gives.
  if (!(await tx.members.hold({ accountId, spaceId }))) return { kind: "outsider" };
  const grant = await tx.grants.find({ accountId, spaceId, clientId });
  const unseen = ticket.generation !== request.app.generation || (!ticket.full && needsConsent(grant, request));
  if (unseen) return { kind: "changed" };
  const code = codeText(clientId, ticket.nonce);
  const digest = codeDigest(code);
  const key = { accountId, spaceId, clientId, operation: "console/AuthorizeApp", key: digest };
  if (!(await tx.replays.claim(key, "", making.now)))
    return again(await tx.codes.find(digest), making.now, redirectWith(request, { code }));
  const approval = { request, accountId, spaceId, connectorUids: chosen(yes, request) };
  const { location, grantId } = await approve(tx, making, approval, ticket.nonce);
  await tx.replays.complete(key, null, grantId);
  await auditConsent(tx, making, { session, spaceId }, yes.from, "AuthorizeApp");
  return { kind: "redirect", location };
}

/** The second half of a double click leads where the first would have: a browser drops the first answer. */
const again = (code: IssuedCode | null, now: number, location: string): Outcome =>
  code !== null && code.usedAt === null && now - code.createdAt < doubleClickMs ? { kind: "redirect", location } : { kind: "used" };

/** Null where the page showed no choice of connectors. */
const chosen = ({ ticket, connectorUids }: Yes, { scopes }: AuthorizationRequest): readonly string[] | null =>
  ticket.full && scopes.includes("use_connectors") ? connectorUids : null;
