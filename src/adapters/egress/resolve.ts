import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import type { OnBehalf } from "../../core/accounts/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { type BeginLookUp, createDnsLookUp, type LookUp, LookUpFailed } from "./look-up.ts";
import { unlessAborted } from "./time-limit.ts";

/** Releases a slot; a second call does nothing. */
type ReleaseSlot = () => void;

/** The limits of concurrent work, in all and per account. */
export interface SlotBounds {
  readonly perAccount: number;
  readonly inAll: number;
  /** Milliseconds to wait for a slot. */
  readonly waitMs: number;
}

interface Waiter {
  readonly accountId: string;
  readonly onSlot: (release: ReleaseSlot) => void;
}

/**
 * Assigns slots. A caller waits when there is none. A free slot goes to the caller that has waited longest
 * among those of accounts below their limit, so an account that uses all of its slots does not delay other
 * accounts.
 *
 * @returns a slot, or null when none was released in time; rejects with the signal's reason once it is
 * aborted.
 */
function slots({ perAccount, inAll, waitMs }: SlotBounds, clock: Pick<Clock, "sleep">) {
  const held = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let all = 0;

  const isBelowLimit = (accountId: string): boolean => all < inAll && (held.get(accountId) ?? 0) < perAccount;

  function count(accountId: string, by: 1 | -1): void {
    all += by;
    const now = (held.get(accountId) ?? 0) + by;
    if (now === 0) held.delete(accountId);
    else held.set(accountId, now);
  }

  function take(accountId: string): ReleaseSlot {
    let isHeld = true;
    count(accountId, 1);
    return () => {
      if (!isHeld) return;
      isHeld = false;
      count(accountId, -1);
      assignFree();
    };
  }

  function assignFree(): void {
    for (const waiter of waiting) {
      if (all >= inAll) return;
      if (!isBelowLimit(waiter.accountId)) continue;
      waiting.delete(waiter);
      waiter.onSlot(take(waiter.accountId));
    }
  }

  const wait = (accountId: string, signal: AbortSignal): Promise<ReleaseSlot | null> =>
    new Promise((resolve, reject) => {
      const over = new AbortController();
      const onSlot = (release: ReleaseSlot) => {
        over.abort();
        resolve(release);
      };
      const waiter = { accountId, onSlot };
      waiting.add(waiter);
      // A caller that got a slot in the meantime is no longer in `waiting`.
      clock.sleep(waitMs, AbortSignal.any([signal, over.signal])).then(
        () => waiting.delete(waiter) && resolve(null),
        () => waiting.delete(waiter) && reject(signal.reason),
      );
    });

  return async ({ accountId, signal }: OnBehalf): Promise<ReleaseSlot | null> => {
    signal.throwIfAborted();
    return isBelowLimit(accountId) ? take(accountId) : wait(accountId, signal);
  };
}

/** The addresses that this machine defines for a name; empty for names that the DNS resolves. */
type LocalNames = (host: string) => Promise<readonly string[]>;

/** A name without its final dot, which only marks the DNS root. */
const plainName = (host: string): string => host.toLowerCase().replace(/\.$/, "");

/** RFC 6761 6.3: these names are never looked up in the DNS. */
const isLocalhost = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");

/**
 * The names in a file in the form of `/etc/hosts`, read again when it has changed. `localhost`, and names
 * under it, resolve to loopback unless the file defines them. A file that cannot be read defines no names.
 */
export function hostsFile(path = "/etc/hosts"): LocalNames {
  let read: { version: string; names: Promise<ReadonlyMap<string, readonly string[]>> } | undefined;

  async function names() {
    const version = await stat(path).then(
      ({ ino, size, mtimeMs, ctimeMs }) => [ino, size, mtimeMs, ctimeMs].join(" "),
      () => "none",
    );
    if (read?.version !== version)
      read = { version, names: readFile(path, "utf8").then(parseHosts, () => new Map()) };
    return read.names;
  }

  return async (host) => {
    const name = plainName(host);
    return (await names()).get(name) ?? (isLocalhost(name) ? ["127.0.0.1", "::1"] : []);
  };
}

/**
 * Parses lines of an address and its names (hosts(5)). A name has the addresses of all lines that contain it.
 */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...aliases] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of new Set(aliases.map(plainName))) {
      const known = names.get(name);
      if (known === undefined) names.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return names;
}

/**
 * Resolves a host name to all of its addresses. @throws LookUpFailed when there are none; the signal's reason
 * once it is aborted.
 */
export type Resolve = (host: string, by: OnBehalf) => Promise<readonly string[]>;

/** The maximum number of concurrent look-ups per account and in all. Further ones wait at most 5 s. */
const bounds = { perAccount: 8, inAll: 64, waitMs: 5_000 };

/** The inputs for resolving names from users. */
export interface NameParts {
  readonly clock: Pick<Clock, "sleep">;
  /** By default the DNS, with the system's configuration. */
  readonly begin?: BeginLookUp;
  /** By default `/etc/hosts`. */
  readonly local?: LocalNames;
}

/**
 * The resolver of names from users: first this machine's hosts file, then the DNS. Callers that look up the
 * same name at the same time share one look-up, which is cancelled when the last of them leaves. Names that
 * the operator configures use the system's resolver (`dns.lookup`) instead. Users' names never use it, so
 * they cannot fill its threads.
 */
export function createUserResolver({
  clock,
  begin = createDnsLookUp(),
  local = hostsFile(),
}: NameParts): Resolve {
  const takeSlot = slots(bounds, clock);
  const inProgress = new Map<string, JoinLookUp>();

  function start(host: string, release: ReleaseSlot): JoinLookUp {
    const mine = sharedLookUp(begin(host), () => {
      if (inProgress.get(host) === mine) inProgress.delete(host);
      release();
    });
    inProgress.set(host, mine);
    return mine;
  }

  /**
   * Joins a look-up right after finding it, without an await in between, because the last waiting caller ends
   * it when it leaves.
   */
  async function lookUp(host: string, by: OnBehalf): Promise<readonly string[]> {
    const running = inProgress.get(host);
    if (running) return running(by.signal);
    // A caller that waits for a slot shares no look-up: otherwise other accounts would wait for this
    // account's limit.
    const release = await takeSlot(by);
    if (release === null) throw new LookUpFailed("busy", host);
    const begun = inProgress.get(host);
    if (begun === undefined) return start(host, release)(by.signal);
    release();
    return begun(by.signal);
  }

  return async (host, by) => {
    const known = await local(host);
    return known.length > 0 ? known : lookUp(host, by);
  };
}

/** Waits for a look-up that several callers may share. */
type JoinLookUp = (signal: AbortSignal) => Promise<readonly string[]>;

/**
 * @param end called when the look-up has ended, or the last waiting caller has left; a second call must do
 * nothing.
 */
function sharedLookUp({ addresses, cancel }: LookUp, end: () => void): JoinLookUp {
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
