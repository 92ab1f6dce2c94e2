import type { Clock } from "../clock.ts";
import type { Store, Tx } from "../store.ts";
import type { ApiKeyRows } from "./api-key.ts";

/** A key's last use is written so seldom, whoever uses it how often. */
export const useEveryMs = 60_000;

/** The uses of keys that are still to be written: apart from the calls, which neither wait for it nor fail with it. */
export interface KeyUses {
  /** Notes a use; cheap, and most often nothing. `usedAt` is the last use that is written. */
  used(id: string, usedAt: number | null): void;
  /** Writes what was noted, all in one change. What fails is noted again by later uses. */
  write(): Promise<void>;
}

/** @param rows of the credentials that are used: keys, or workers. */
export function keyUses(
  store: Pick<Store, "change">,
  clock: Pick<Clock, "now">,
  rows: (tx: Tx) => Pick<ApiKeyRows, "use"> = ({ keys }) => keys,
): KeyUses {
  let noted = new Map<string, number>();
  return {
    used(id, usedAt) {
      const now = clock.now();
      if (usedAt === null || now - usedAt >= useEveryMs) noted.set(id, now);
    },
    async write() {
      if (noted.size === 0) return;
      // Nodes that write the same keys take their rows in one order.
      const uses = [...noted].toSorted(([a], [b]) => (a < b ? -1 : 1));
      noted = new Map();
      await store.change(async (tx) => {
        for (const [id, at] of uses) await rows(tx).use(id, at, useEveryMs);
      });
    },
  };
}
