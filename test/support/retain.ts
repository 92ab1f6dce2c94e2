import { systemIds } from "../../src/core/ids.ts";
import type { Retention } from "../../src/core/retention/retention.ts";
import type { Store } from "../../src/core/store.ts";
import { retainer } from "../../src/core/use-cases/retain.ts";
import { keepsAll } from "./maintenance.ts";
import { stillClock } from "./still-clock.ts";

/** One pass of retention at a time (Unix milliseconds). */
export async function retainAt(store: Store, now: number, retention: Partial<Retention>, keepsEvents = false): Promise<void> {
  const parts = { store, ids: systemIds, clock: stillClock(now), keepsEvents, retention: { ...keepsAll, ...retention } };
  await retainer(parts)?.(new AbortController().signal);
}
