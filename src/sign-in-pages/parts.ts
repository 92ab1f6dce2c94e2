import type { FastifyReply, FastifyRequest } from "fastify";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Failure } from "../core/failure.ts";
import type { Ids, Random } from "../core/ids.ts";
import type { CreationContext } from "../core/keys/api-key.ts";
import type { Log } from "../core/log.ts";
import type { CodeEntries } from "../core/oauth/user-code.ts";
import type { LinkRequest } from "../core/sign-in/link-request.ts";
import { checkPassword } from "../core/sign-in/password.ts";
import type { CountAttempt } from "../core/sign-in/prove.ts";
import type { SessionHolder } from "../core/sign-in/sign-in.ts";
import type { RequestOrigin } from "../core/sign-in/start-session.ts";
import type { Store } from "../core/store.ts";
import type { ReadRequest } from "../http/request.ts";
import type { RelyingParty } from "./factors/webauthn.ts";
import { sendRedirect } from "./page.ts";
import type { Provider } from "./provider.ts";
import type { Visits } from "./visits.ts";

/** A person without an account who came from an app asks the owner of the app's team for access. */
export interface AccessRequest {
  /** The owner's address. */
  readonly owner: string;
  /** The person's address, as typed. */
  readonly email: string;
  readonly app: string;
  readonly team: string;
}

/** A sign-in with a recovery code. */
export interface RecoveryUse {
  readonly email: string;
  /** How many codes the person still has. */
  readonly left: number;
}

/** Dependencies of the pages. */
export interface ConsoleParts {
  readonly visits: Visits;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly cipher: Cipher;
  readonly log: Log;
  readonly countAttempt: CountAttempt;
  /** Counts a request for a sign-in link by mail. */
  readonly countLink: CountAttempt;
  readonly codeEntries: CodeEntries;
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
  /** Called once the first link has signed its owner in. Returns the path of the page that follows. */
  readonly welcome: () => Promise<string>;
  /**
   * Mails a request for access to the owner of a team, without waiting for the mail server; null: no mail
   * server.
   */
  readonly askOwner: ((request: AccessRequest) => void) | null;
  /**
   * Mails a person that a recovery code of theirs was used, without waiting for the mail server; null: no
   * mail server.
   */
  readonly sendRecoveryMail: ((use: RecoveryUse) => void) | null;
  /**
   * Mails a sign-in link to an address with an account, without waiting for the mail server; null: people
   * cannot ask for one.
   */
  readonly mailLink: ((request: LinkRequest) => void) | null;
  /** The site that passkeys are for; null where browsers have none. */
  readonly relyingParty: RelyingParty | null;
  /** Single sign-on; null: none. */
  readonly provider: Provider | null;
}

/** The audit log's and the failure pages' data of each request. */
const origins = new WeakMap<FastifyRequest, RequestOrigin>();

/** The context for new rows, with the current time. */
export const creationContext = ({ clock, ids, random }: ConsoleParts): CreationContext => ({
  now: clock.now(),
  ids,
  random,
});

/** The request's id and address; repeated calls return the same values. */
export function requestOrigin(
  { readRequest }: Pick<ConsoleParts, "readRequest">,
  request: FastifyRequest,
): RequestOrigin {
  const from = origins.get(request);
  if (from) return from;
  const { requestId, address } = readRequest(request.raw);
  origins.set(request, { requestId, address });
  return { requestId, address };
}

/** The value of a query parameter; empty if it is absent or repeated. */
export function queryText(request: FastifyRequest, name: string): string {
  // Fastify's query parser returns strings, and arrays for repeated parameters.
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  return typeof value === "string" ? value : "";
}

/** Answers a request of a signed-in user. */
export type Handle = (
  request: FastifyRequest,
  reply: FastifyReply,
  who: SessionHolder,
) => Promise<FastifyReply> | FastifyReply;

/**
 * Wraps a page for signed-in users: other users are redirected to sign-in, which leads back. @param home
 * where a form leads back to
 */
export const requireSignIn =
  (visits: Visits, home?: string) =>
  (handle: Handle) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const who = await visits.currentSession(request, reply);
    if (who !== null) return handle(request, reply, who);
    const back = request.method === "GET" ? request.url : home;
    return sendRedirect(reply, visits.signInHref(back === undefined ? visits.account : visits.href(back)));
  };

/**
 * Checks the signed-in user's password. Attempts count like sign-ins, so that an open session cannot be used
 * to guess it.
 */
export async function verifyOwnPassword(
  parts: ConsoleParts,
  request: FastifyRequest,
  who: SessionHolder,
  text: string,
): Promise<boolean> {
  await parts.countAttempt(who.email, requestOrigin(parts, request).address);
  return checkPassword(parts.store, who.session.accountId, text);
}
