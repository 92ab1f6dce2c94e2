import type { Store, Tx } from "../../src/core/store.ts";

/** A store in which some methods of an aggregate do something else, in changes and outside; `rows` does the real thing. */
export function faulty<A extends keyof Tx & string>(store: Store, aggregate: A, methods: (rows: Tx[A]) => Partial<Tx[A]>): Store {
  const withFaults = <T extends Tx>(tx: T): T => ({ ...tx, [aggregate]: { ...tx[aggregate], ...methods(tx[aggregate]) } });
  return { ...withFaults(store), change: (work) => store.change((tx) => work(withFaults(tx))) };
}
