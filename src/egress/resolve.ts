import type { Clock } from "../core/clock.ts";
import type { OnBehalf } from "../core/on-behalf.ts";
import { hostsFile, type LocalNames } from "./hosts-file.ts";
import { type BeginLookUp, dnsLookUp, type LookUp, LookUpFailed } from "./look-up.ts";
import { places } from "./places.ts";
import { unlessAborted } from "./time-limit.ts";

/** Gives all addresses of a host name. @throws LookUpFailed when there are none; the signal's reason once that is aborted. */
export type Resolve = (host: string, by: OnBehalf) => Promise<readonly string[]>;

/** Look-ups at a time for one account, and in all; who finds no place waits 5 s at most. */
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
 * The resolver of names that users supply: first this machine's own file of names, then the DNS. Those who ask for a name that is
 * being looked up share the answer; a look-up ends when no caller needs it any more. Names that the operator configures use the
 * system's resolver (`dns.lookup`) instead, which users' names never use: they cannot fill its threads.
 */
export function userNames({ clock, begin = dnsLookUp(), local = hostsFile() }: NameParts): Resolve {
  const place = places(bounds, clock);
  const underWay = new Map<string, Shared>();

  async function started(host: string, by: OnBehalf): Promise<Shared> {
    const known = underWay.get(host);
    if (known) return known;
    // One that waits for its turn is not shared: it would make others wait for its account's turn.
    const free = await place(by);
    if (free === null) throw new LookUpFailed("busy", host);
    const begun = underWay.get(host);
    if (begun) {
      free();
      return begun;
    }
    const mine = sharedLookUp(begin(host), () => {
      if (underWay.get(host) === mine) underWay.delete(host);
      free();
    });
    underWay.set(host, mine);
    return mine;
  }

  return async (host, by) => {
    const known = await local(host);
    if (known.length > 0) return known;
    const shared = await started(host, by);
    return shared(by.signal);
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
