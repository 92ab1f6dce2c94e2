import { Failure } from "../failure.ts";

/**
 * Who waits for a hash: an account that the browser or session has signed in to before, or else a network.
 */
export type HashTurn = { readonly account: string } | { readonly network: string };

/**
 * Concurrent hashes: each takes 32 MB and one of the four threads that also serve files and DNS. One place is
 * kept for known accounts.
 */
const places = { all: 2, networks: 1 } as const;
/** Hashes that may wait in a line, and those of one account or network. More than this is a flood. */
const waitingMax = { all: 200, each: 20 } as const;

interface Waiter {
  readonly start: () => void;
  readonly refuse: (failure: Failure) => void;
}

/** Waiters by account or network. Each of these has its turn before any has a second one. */
interface Line {
  /** @throws Failure `unavailable` */
  add(key: string, waiter: Waiter): void;
  next(): Waiter | undefined;
}

const flood = () => new Failure("unavailable", "too many people sign in at this moment", { retryAfter: 10 });

function openLine(): Line {
  const lines = new Map<string, Waiter[]>();
  let count = 0;

  /** A full line takes one from those with the most: they cannot keep others out. */
  function makeRoom(present: number): void {
    const longest = [...lines.values()].reduce((most, each) => (each.length > most.length ? each : most));
    if (longest.length <= present + 1) throw flood();
    longest.pop()?.refuse(flood());
    count -= 1;
  }

  return {
    add(key, waiter) {
      const own = lines.get(key) ?? [];
      if (own.length >= waitingMax.each) throw flood();
      if (count >= waitingMax.all) makeRoom(own.length);
      lines.set(key, own);
      own.push(waiter);
      count += 1;
    },
    next() {
      const [key, own] = lines.entries().next().value ?? [];
      if (key === undefined) return undefined;
      const waiter = own?.shift();
      lines.delete(key);
      if (own && own.length > 0) lines.set(key, own);
      count -= 1;
      return waiter;
    },
  };
}

/** Runs hashes a few at a time. @throws Failure `unavailable` when too many wait. */
export type HashQueue = <T>(turn: HashTurn, work: () => Promise<T>) => Promise<T>;

export function hashQueue(): HashQueue {
  const lines = { accounts: openLine(), networks: openLine() };
  const running = { accounts: 0, networks: 0 };

  function startNext(kind: keyof typeof running): boolean {
    const waiter = lines[kind].next();
    if (!waiter) return false;
    running[kind] += 1;
    waiter.start();
    return true;
  }

  function fill(): void {
    while (running.accounts + running.networks < places.all) {
      if (startNext("accounts")) continue;
      if (running.networks >= places.networks || !startNext("networks")) return;
    }
  }

  return async (turn, work) => {
    const [kind, key] =
      "account" in turn ? (["accounts", turn.account] as const) : (["networks", turn.network] as const);
    await new Promise<void>((start, refuse) => {
      lines[kind].add(key, { start, refuse });
      fill();
    });
    try {
      return await work();
    } finally {
      running[kind] -= 1;
      fill();
    }
  };
}
