import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { DescMethod } from "@bufbuild/protobuf";
import { parseTraceparent } from "../core/trace.ts";
import type { Request } from "../pipeline/admission.ts";
import { readCredentials } from "../pipeline/credential.ts";
import {
  type CallObserver,
  noCallObserver,
  observeCall,
  readCallerRequestId,
} from "../pipeline/observation.ts";
import { incomingBody } from "./incoming-body.ts";

/**
 * The cookie's name. With TLS, its prefix makes the browser bind the cookie to its host (spec/decisions.md
 * 35).
 */
export const sessionCookieName = (consentUrl: string): string =>
  consentUrl.startsWith("https:") ? "__Host-session" : "session";

/**
 * Reads the session cookie of a request to an operation on the Connect wire; null where sessions are not
 * accepted.
 *
 * @param kind the kind of the operation; undefined for a request to no operation.
 */
export type ReadSessionCookie = (
  kind: DescMethod["methodKind"] | undefined,
  method: string | undefined,
  headers: IncomingHttpHeaders,
) => string | null;

/**
 * The content types of requests with a session. A page cannot send any of them to another origin without a
 * preflight.
 */
const sessionTypes: Readonly<Partial<Record<DescMethod["methodKind"], RegExp>>> = {
  unary: /^application\/(json|proto)\s*(;|$)/i,
  server_streaming: /^application\/connect\+(json|proto)\s*(;|$)/i,
};

/**
 * Creates the reader of session cookies. A session counts only on the Connect wire, for unary calls and
 * server streams, by POST with Connect's content type for them, and only when the `Origin` header is the
 * origin of `consentUrl` (spec/decisions.md 35, 55): pages of other sites cannot use it.
 */
export function sessionCookieReader(consentUrl: string): ReadSessionCookie {
  const { origin } = new URL(consentUrl);
  const name = sessionCookieName(consentUrl);
  return (kind, method, headers) => {
    const type = kind && sessionTypes[kind];
    const isOwnPage =
      method === "POST" && headers.origin === origin && type?.test(headers["content-type"] ?? "") === true;
    return isOwnPage ? readCookie(headers.cookie ?? "", name) : null;
  };
}

/** A cookie's value (RFC 6265 5.4); null for no cookie, or several, of this name. */
export function readCookie(header: string, name: string): string | null {
  const pairs = header.split(";").map((pair) => pair.trim());
  const matching = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return matching.length === 1 ? (matching[0]?.slice(name.length + 1) ?? null) : null;
}

/** Reads the head of a request in the same way on every wire. */
export type ReadRequest = (head: RequestHead) => Request;

/** The head in Node's form, of HTTP/1.1 and HTTP/2. */
export type RequestHead = Pick<IncomingMessage, "headers"> & {
  readonly socket: Pick<IncomingMessage["socket"], "remoteAddress">;
};

/**
 * @param trustProxy the lower-case name of the header in which a proxy sends the
 * client's address; null trusts only the connection.
 * @param observer receives the calls whose heads were read.
 * @param trustsTrace whether the `sampled` flag of a caller at an address counts.
 */
export function requestReader(
  newRequestId: () => string,
  trustProxy: string | null,
  observer: CallObserver = noCallObserver,
  trustsTrace: (address: string) => boolean = () => false,
): ReadRequest {
  const addressOf = addressReader(trustProxy);
  function read(head: RequestHead): Request {
    const { headers } = head;
    const header = (name: string) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    };
    // A caller's X-Request-Id is logged, and never used (spec/decisions.md 12, 116).
    const requestId = newRequestId();
    const address = addressOf(head);
    const trace = parseTraceparent(header("traceparent"));
    const parent = trace && { ...trace, isTrusted: trustsTrace(address) };
    return {
      requestId,
      address,
      credentials: readCredentials(header),
      idempotencyKey: header("idempotency-key") ?? null,
      isStrict: readPreference(header("prefer") ?? "", "handling") === "strict",
      body: incomingBody(head),
      observed: observeCall(observer, {
        requestId,
        callerRequestId: readCallerRequestId(header("x-request-id")),
        parent,
      }),
    };
  }
  // Several parts of one wire read the head: they share its id and its observation.
  return (head: WithRequest) => (head[requestKey] ??= read(head));
}

/** The request is stored as a property, as its body is. */
const requestKey = Symbol("request");

interface WithRequest extends RequestHead {
  [requestKey]?: Request;
}

/** Creates a reader of caller addresses; `trustProxy` as in `requestReader`. */
export function addressReader(trustProxy: string | null): (head: RequestHead) => string {
  return ({ headers, socket: { remoteAddress = "" } }) => {
    const forwarded = trustProxy === null ? undefined : headers[trustProxy];
    return lastAddress(Array.isArray(forwarded) ? forwarded.join(", ") : forwarded) ?? remoteAddress;
  };
}

/**
 * One preference of the list; a comma in quotes does not separate. An unclosed quote extends to the end of
 * the text, so that no character is searched twice: the time is linear in the length of the header.
 */
const preferences = /(?:[^",]|"(?:\\.|[^"\\])*(?:"|\\?$))+/g;

/**
 * A preference's value, in lower case and without quotes. The first of this name that has a value counts (RFC
 * 7240 2).
 */
export function readPreference(prefer: string, wanted: string): string | undefined {
  for (const preference of prefer.match(preferences) ?? []) {
    const [name, value] = (preference.split(";", 1)[0] ?? "")
      .split("=")
      .map((text) => text.trim().toLowerCase());
    if (name === wanted && value !== undefined) return value.replace(/^"(.*)"$/, "$1");
  }
  return undefined;
}

/**
 * The last address: the nearest proxy appends the address that it sees. The client may have sent the earlier
 * ones.
 */
function lastAddress(forwarded: string | undefined): string | undefined {
  const last = forwarded?.split(",").at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}
