import { Resolver } from "node:dns/promises";

/** Why a name has no address. */
export type LookUpFault =
  /** It does not exist, or has neither A nor AAAA records. */
  | "not_found"
  /** No name server answered in time, or none could. */
  | "no_answer"
  /** Too many other look-ups were under way. */
  | "busy";

/** A name that gave no address. Its text is for the log alone. */
export class LookUpFailed extends Error {
  override readonly name = "LookUpFailed";
  readonly kind: LookUpFault;

  constructor(kind: LookUpFault, host: string, cause?: unknown) {
    super(`${host}: ${kind}`, { cause });
    this.kind = kind;
  }
}

/** A look-up that has begun. */
export interface LookUp {
  /** All addresses, IPv4 first; rejects with LookUpFailed when there are none. */
  readonly addresses: Promise<readonly string[]>;
  /** Ends it at once. */
  cancel(): void;
}

/** Begins to look a name up in the DNS. */
export type BeginLookUp = (host: string) => LookUp;

/** Milliseconds that each name server has, each time it is asked. */
const bounds = { timeout: 2_000, maxTimeout: 2_000, tries: 2 };
/** c-ares' codes for names without records, and for what no DNS message can ask for. */
const notFound: readonly string[] = ["ENOTFOUND", "ENODATA", "EBADNAME", "EBADQUERY"];

/**
 * Looks names up by c-ares, which holds no thread while it waits, and follows CNAME records. Each look-up has a resolver of its
 * own: `cancel` ends all that a resolver has under way. Search domains do not count: a user's name is whole.
 *
 * @param servers as `dns.setServers` takes them; by default those of the system.
 */
export function dnsLookUp(servers?: readonly string[]): BeginLookUp {
  return (host) => {
    const resolver = new Resolver(bounds);
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
