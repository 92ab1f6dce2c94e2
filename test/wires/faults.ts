import type { Store, Tx } from "../../src/core/store.ts";

/** A store in which some methods of an aggregate fail or wait, in changes and outside. */
export function faulty<A extends keyof Tx & string>(store: Store, aggregate: A, methods: Partial<Tx[A]>): Store {
  const withFaults = <T extends Tx>(tx: T): T => ({ ...tx, [aggregate]: { ...tx[aggregate], ...methods } });
  return { ...withFaults(store), change: (work) => store.change((tx) => work(withFaults(tx))) };
}
