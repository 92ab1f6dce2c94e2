import { errors } from "undici";
import { RefusedDestination } from "./agent.ts";

/** Why a request had no answer. */
export type RequestFault =
  /** The guard did not let it out. */
  | "address_refused"
  | "timeout"
  | "tls"
  /** What came back is not HTTP. */
  | "protocol"
  /** The name was not found, or the connection could not be made, or broke. */
  | "connection";

/** Codes of OpenSSL and Node for certificates that are not trusted, names that are not in them, and broken TLS. */
const tlsCodes = /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
const protocolCodes = /^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/;
const timeoutCodes: readonly string[] = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"];

/** Classifies a request that had no answer. The text of the thrown error comes from outside, so callers never see it. */
export function requestFault(thrown: unknown): RequestFault {
  if (thrown instanceof RefusedDestination) return "address_refused";
  const code = codeOf(thrown);
  if (timeoutCodes.includes(code)) return "timeout";
  if (tlsCodes.test(code)) return "tls";
  return thrown instanceof errors.HTTPParserError || protocolCodes.test(code) ? "protocol" : "connection";
}

/** The code of an error of Node, c-ares or undici; empty without one. */
export const codeOf = (thrown: unknown): string =>
  typeof thrown === "object" && thrown !== null && "code" in thrown ? String(thrown.code) : "";
