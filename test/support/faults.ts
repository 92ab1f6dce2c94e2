import type { Store, Tx } from "../../src/core/store.ts";

/**
 * A store in which some methods of an aggregate are replaced, in changes and outside; `rows` is the real one.
 */
export function storeWithFaults<A extends keyof Tx & string>(
  store: Store,
  aggregate: A,
  methods: (rows: Tx[A]) => Partial<Tx[A]>,
): Store {
  const withFaults = <T extends Tx>(tx: T): T => ({
    ...tx,
    [aggregate]: { ...tx[aggregate], ...methods(tx[aggregate]) },
  });
  return { ...withFaults(store), change: (work) => store.change((tx) => work(withFaults(tx))) };
}

/** The process of a store has been killed. */
export class Killed extends Error {}

/** A store of a process that is killed at a write. */
export interface KilledStore {
  readonly store: Store;
  /** The changes that it has begun. */
  readonly writes: () => number;
  /** Aborted when the process is killed: none of its code runs after that. */
  readonly killed: AbortSignal;
}

/**
 * The store as a process has it that is killed at its nth change, before its commit or after it. From then on
 * it writes nothing.
 */
export function storeKilledAt(real: Store, nth: number, when: "before" | "after"): KilledStore {
  let writes = 0;
  const killed = new AbortController();
  function kill(): never {
    const reason = new Killed();
    killed.abort(reason);
    throw reason;
  }
  const change: Store["change"] = async (work) => {
    writes += 1;
    if (writes > nth || (writes === nth && when === "before")) kill();
    const result = await real.change(work);
    return writes >= nth ? kill() : result;
  };
  return { store: { ...real, change }, writes: () => writes, killed: killed.signal };
}
