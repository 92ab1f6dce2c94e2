import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import type { OnBehalf } from "../core/on-behalf.ts";
import { mayReach, type Reach } from "./destination.ts";
import type { Resolve } from "./resolve.ts";

/** A request that the guard did not let out. Its text is for the log alone. */
export class RefusedDestination extends Error {
  override readonly name = "RefusedDestination";
}

const connectMs = 10_000;
/** An address that does not answer in so long gives way to the next; the last one has what is left. */
const attemptMs = 2_500;

/** What requests to addresses that users supply are made with. */
export interface GuardParts {
  readonly reach: Reach;
  readonly resolve: Resolve;
  readonly by: OnBehalf;
}

/**
 * Connections to addresses that strangers give. A name is resolved once, every
 * address of it is checked, one bad one refuses the connection, and only what was
 * checked is connected to, one after the other; an address in the URL is checked
 * alike. Certificates are verified, whatever the environment says, and no proxy
 * stands between. Nobody's connection is used again by another request.
 *
 * @param onChecked is called with the addresses before each connection.
 */
export function guardedAgent(parts: GuardParts, onChecked: (addresses: readonly string[]) => void = () => undefined): Agent {
  return new Agent({
    // No keep-alive: an address is checked for every request.
    pipelining: 0,
    connect: (options, callback) => {
      const to = { port: Number(options.port) || (options.protocol === "https:" ? 443 : 80), secure: options.protocol === "https:" };
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
 * All addresses of a host, each of which may be reached.
 *
 * @throws RefusedDestination when one may not; LookUpFailed when the name has none; the signal's reason once that is aborted.
 */
export async function checkedAddresses(
  host: string,
  to: { readonly port: number; readonly secure: boolean },
  { reach, resolve, by }: GuardParts,
): Promise<readonly string[]> {
  const addresses = isIP(host) > 0 ? [host] : await resolve(host, by);
  const bad = addresses.find((address) => !mayReach(reach, { ...to, address }));
  if (bad !== undefined || addresses.length === 0) throw new RefusedDestination(`${host} is ${bad ?? "nowhere"}, port ${to.port}`);
  return addresses;
}

/** Connects to these addresses, whatever the name: a second look-up could find others. */
export function connectorTo(addresses: readonly string[]): buildConnector.connector {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const answer: LookupFunction = (_host, options, callback) => {
    const [first] = found;
    if (options.all || first === undefined) callback(null, found);
    else callback(null, first.address, first.family);
  };
  return buildConnector({
    lookup: answer,
    rejectUnauthorized: true,
    allowH2: false,
    timeout: connectMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
  });
}
