import { LookUpFailed, type LookUpFault } from "./look-up.ts";
import { codeOf, type RequestFault, requestFault } from "./request-fault.ts";

/** The URL or the answer cannot be used. Callers see its message. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
}

/** How far a failed fetch had come. */
export interface FetchState {
  /** Whether its time was up. */
  readonly isLate: boolean;
  /** Whether its last connection leads to an address that is not public, but allowed (`FETCH_ALLOW`). */
  readonly isInside: boolean;
  /** Whether the head of the last answer had come. A server that answers is known to exist, so callers may see what went wrong. */
  readonly hasAnswered: boolean;
}

/**
 * The only text about an address that is not public. It is the same for an address that may not be reached and for one
 * that may be reached but does not answer, so it does not show which addresses and ports of a private network are in
 * use (contract/decisions.md 39).
 */
const notPublic = "the address must be public, on port 80 or 443; this one is not, or nothing answers there";

const lookUpTexts: Readonly<Record<LookUpFault, string>> = {
  not_found: "the host name was not found",
  no_answer: "the host name could not be looked up: no name server answered in time",
  busy: "the host name could not be looked up: too many look-ups are under way; try again",
};

const requestTexts: Readonly<Record<RequestFault, string>> = {
  address_refused: notPublic,
  timeout: "the server did not answer in time",
  tls: "no secure connection could be made: check the server's certificate",
  protocol: "the server did not answer in HTTP",
  connection: "the connection failed before the server answered",
};

/** Why a file could not be fetched, for callers: in our own words. */
export function fetchFault(thrown: unknown, { isLate, isInside, hasAnswered }: FetchState, seconds: number): string {
  if (thrown instanceof UnusableFile) return thrown.message;
  if (thrown instanceof LookUpFailed) return lookUpTexts[thrown.kind];
  if (isInside && !hasAnswered) return notPublic;
  if (isLate) return `the file did not come within ${seconds} seconds`;
  if (hasAnswered) return "the connection failed before the whole file had come";
  if (codeOf(thrown) === "ECONNREFUSED") return "the server refused the connection";
  return requestTexts[requestFault(thrown)];
}
