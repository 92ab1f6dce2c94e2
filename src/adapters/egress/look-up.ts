import { Resolver } from "node:dns/promises";

/** The reason why a name has no address. */
export type LookUpFault =
  /** It does not exist, or has neither A nor AAAA records. */
  | "not_found"
  /** No name server answered in time, or none could be reached. */
  | "no_answer"
  /** Too many other look-ups were in progress. */
  | "busy";

/** A look-up without an address. Its text is only for the log. */
export class LookUpFailed extends Error {
  override readonly name = "LookUpFailed";
  readonly kind: LookUpFault;

  constructor(kind: LookUpFault, host: string, cause?: unknown) {
    super(`${host}: ${kind}`, { cause });
    this.kind = kind;
  }
}

export interface LookUp {
  /** All addresses, IPv4 first; rejects with LookUpFailed when there are none. */
  readonly addresses: Promise<readonly string[]>;
  /** Ends it immediately. */
  cancel(): void;
}

export type BeginLookUp = (host: string) => LookUp;

/** The time of each query to a name server, in milliseconds, and the number of tries. */
export const lookUpBounds = { timeout: 2_000, maxTimeout: 2_000, tries: 2 };
/** c-ares' codes for names without records, and for names that are invalid in the DNS. */
const notFound: readonly string[] = ["ENOTFOUND", "ENODATA", "EBADNAME", "EBADQUERY"];

/**
 * Looks names up with c-ares, which uses no thread while it waits, and follows CNAME records. Each look-up
 * has a separate resolver, because `cancel` ends all queries of a resolver. Search domains are not used: a
 * user's name must be complete.
 *
 * @param servers in the form of `dns.setServers`; by default the system's.
 */
export function createDnsLookUp(servers?: readonly string[]): BeginLookUp {
  return (host) => {
    const resolver = new Resolver(lookUpBounds);
    if (servers) resolver.setServers(servers);
    return { addresses: addressesOf(resolver, host), cancel: () => resolver.cancel() };
  };
}

async function addressesOf(resolver: Resolver, host: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (found.length > 0) return found;
  const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  const failure = failures.find(({ code }) => !notFound.includes(code));
  throw new LookUpFailed(failure ? "no_answer" : "not_found", host, failure ?? failures[0]);
}
