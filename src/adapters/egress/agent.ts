import { isIP, type LookupFunction } from "node:net";
import type { Agent, buildConnector } from "undici";
import type { AllowedAddresses } from "../../config/address-range.ts";
import type { OnBehalf } from "../../core/accounts/caller.ts";
import { blockList, isPublic, parseAddress } from "./public-address.ts";
import type { Resolve } from "./resolve.ts";
import { undici } from "./undici.ts";

/** One resolved address to connect to. */
export interface Destination {
  readonly address: string;
  readonly port: number;
  /** Over TLS. */
  readonly secure: boolean;
}

/** The allowed destinations of requests to addresses from users. */
interface Reach {
  /** The allowed ports of public addresses. */
  readonly ports: readonly number[];
  /** Whether requests to public addresses may use plain http. */
  readonly plain: boolean;
  /** Addresses that need not be public, because the operator allows them. */
  readonly allowed: readonly AllowedAddresses[];
}

/** Whether a request may reach a destination: denied unless one rule allows it. */
export function mayReach({ ports, plain, allowed }: Reach, destination: Destination): boolean {
  const { address, port, secure } = destination;
  if (isPublic(address) && ports.includes(port) && (secure || plain)) return true;
  return allowed.some((entry) => allows(entry, destination));
}

const loopbacks = { ipv4: blockList("ipv4", "127.0.0.0/8"), ipv6: blockList("ipv6", "::1/128") };

/** `loopback` permits any port and plain http; a range permits one port, over TLS (spec/decisions.md 39). */
function allows(entry: AllowedAddresses, { address: text, port, secure }: Destination): boolean {
  const parsed = parseAddress(text);
  if (parsed === null) return false;
  const { address, family } = parsed;
  if (entry.kind === "loopback") return loopbacks[family].check(address, family);
  const { network, prefix } = entry;
  return (
    secure &&
    port === entry.port &&
    family === entry.family &&
    blockList(family, `${network}/${prefix}`).check(address, family)
  );
}

/** A request that the guard refused. Its text is only for the log. */
export class RefusedDestination extends Error {
  override readonly name = "RefusedDestination";
}

const connectMs = 10_000;
/** The time for one address before the next one is tried. The last one has the remaining time. */
const attemptMs = 2_500;

/** The inputs for requests to addresses from users. */
export interface GuardParts {
  readonly reach: Reach;
  readonly resolve: Resolve;
  readonly by: OnBehalf;
  /** True when an answer may take as long as its caller waits. */
  readonly isPatient?: true;
}

/**
 * Connections to addresses from users. A name is resolved once and each of its addresses
 * is checked. One forbidden address refuses the connection. Only checked addresses are
 * tried, one by one. An address in the URL is checked in the same way. Certificates are
 * always verified, independent of the environment, and no proxy is used. Requests never
 * share a connection.
 *
 * @param onChecked is called with the addresses before each connection.
 */
export function guardedAgent(
  parts: GuardParts,
  onChecked: (addresses: readonly string[]) => void = () => undefined,
): Agent {
  return new (undici().Agent)({
    // No keep-alive: an address is checked for every request.
    pipelining: 0,
    ...(parts.isPatient ? { headersTimeout: 0, bodyTimeout: 0 } : {}),
    connect: (options, callback) => {
      const to = {
        port: Number(options.port) || (options.protocol === "https:" ? 443 : 80),
        secure: options.protocol === "https:",
      };
      checkedAddresses(options.hostname, to, parts).then(
        (addresses) => {
          onChecked(addresses);
          connectorTo(addresses)(options, callback);
        },
        (refused: Error) => callback(refused, null),
      );
    },
  });
}

/**
 * Resolves a host and checks that each of its addresses may be reached.
 *
 * @throws RefusedDestination when one may not be reached; LookUpFailed when the name has no address; the
 * signal's reason once it is aborted.
 */
export async function checkedAddresses(
  host: string,
  to: { port: number; secure: boolean },
  { reach, resolve, by }: GuardParts,
): Promise<readonly string[]> {
  const addresses = isIP(host) > 0 ? [host] : await resolve(host, by);
  const forbidden = addresses.find((address) => !mayReach(reach, { ...to, address }));
  if (forbidden !== undefined || addresses.length === 0)
    throw new RefusedDestination(`${host} resolves to ${forbidden ?? "no address"}, port ${to.port}`);
  return addresses;
}

/** Connects to these addresses and ignores the name, because a second look-up could find other addresses. */
export function connectorTo(addresses: readonly string[]): buildConnector.connector {
  const records = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_host, options, callback) => {
    const [first] = records;
    if (options.all || first === undefined) callback(null, records);
    else callback(null, first.address, first.family);
  };
  return undici().buildConnector({
    lookup,
    rejectUnauthorized: true,
    allowH2: false,
    timeout: connectMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
  });
}

/** The reason why a request had no answer. */
export type RequestFault =
  /** The guard refused it. */
  | "address_refused"
  | "timeout"
  | "tls"
  /** The response is not HTTP. */
  | "protocol"
  /** The name was not found, or the connection failed or broke. */
  | "connection";

/**
 * Codes of OpenSSL and Node for certificates that are not trusted, names that are not in them, and broken
 * TLS.
 */
const tlsCodes =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
const protocolCodes = /^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/;
const timeoutCodes: readonly string[] = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"];

/**
 * Classifies a request without an answer. The thrown error's text is from outside, so callers never see it.
 */
export function classifyFault(thrown: unknown): RequestFault {
  if (thrown instanceof RefusedDestination) return "address_refused";
  const code = codeOf(thrown);
  if (timeoutCodes.includes(code)) return "timeout";
  if (tlsCodes.test(code)) return "tls";
  return thrown instanceof undici().errors.HTTPParserError || protocolCodes.test(code)
    ? "protocol"
    : "connection";
}

/** The code of an error of Node, c-ares or undici; empty without one. */
export const codeOf = (thrown: unknown): string =>
  typeof thrown === "object" && thrown !== null && "code" in thrown ? String(thrown.code) : "";
