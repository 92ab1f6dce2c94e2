import type { Clock } from "../core/clock.ts";
import type { OnBehalf } from "../core/on-behalf.ts";
import { hostsFile, type LocalNames } from "./hosts-file.ts";
import { type BeginLookUp, dnsLookUp, type LookUp, LookUpFailed } from "./look-up.ts";
import { type FreePlace, places } from "./places.ts";
import { unlessAborted } from "./time-limit.ts";

/** Gives all addresses of a host name. @throws LookUpFailed when there are none; the signal's reason once that is aborted. */
export type Resolve = (host: string, by: OnBehalf) => Promise<readonly string[]>;

/** Look-ups at a time for one account, and in all; the next one waits at most 5 s. */
const bounds = { perAccount: 8, inAll: 64, waitMs: 5_000 };

/** What names that users supply are resolved with. */
export interface NameParts {
  readonly clock: Pick<Clock, "sleep">;
  /** By default the DNS, as the system is set up to ask it. */
  readonly begin?: BeginLookUp;
  /** By default `/etc/hosts`. */
  readonly local?: LocalNames;
}

/**
 * The resolver of names that users supply: first this machine's own file of names, then the DNS. Callers that ask for the same
 * name at the same time share one look-up, which is cancelled when the last of them leaves. Names that the operator configures use
 * the system's resolver (`dns.lookup`) instead. Users' names never use it, so they cannot fill its threads.
 */
export function userNames({ clock, begin = dnsLookUp(), local = hostsFile() }: NameParts): Resolve {
  const place = places(bounds, clock);
  const underWay = new Map<string, Shared>();

  function start(host: string, free: FreePlace): Shared {
    const mine = sharedLookUp(begin(host), () => {
      if (underWay.get(host) === mine) underWay.delete(host);
      free();
    });
    underWay.set(host, mine);
    return mine;
  }

  /** Joins or starts at once, without a pause in between: the last caller that waits for a look-up ends it when it leaves. */
  async function lookUp(host: string, by: OnBehalf): Promise<readonly string[]> {
    const running = underWay.get(host);
    if (running) return running(by.signal);
    // A caller that waits for its turn shares nothing yet: otherwise others would wait for the turn of its account.
    const free = await place(by);
    if (free === null) throw new LookUpFailed("busy", host);
    const begun = underWay.get(host);
    if (begun === undefined) return start(host, free)(by.signal);
    free();
    return begun(by.signal);
  }

  return async (host, by) => {
    const known = await local(host);
    return known.length > 0 ? known : lookUp(host, by);
  };
}

/** Waits for the answer of a look-up that others may wait for too. */
type Shared = (signal: AbortSignal) => Promise<readonly string[]>;

/** @param end called when the look-up is over, or the last who waited has left; a second call must do nothing. */
function sharedLookUp({ addresses, cancel }: LookUp, end: () => void): Shared {
  let waiting = 0;
  addresses.then(end, end);
  return async (signal) => {
    waiting += 1;
    try {
      return await unlessAborted(signal, addresses);
    } finally {
      waiting -= 1;
      if (waiting === 0) {
        end();
        cancel();
      }
    }
  };
}
