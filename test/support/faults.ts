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
