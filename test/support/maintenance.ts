import type { Clock } from "../../src/core/clock.ts";
import type { Store } from "../../src/core/store.ts";
import { backlog } from "../../src/core/tasks/backlog.ts";
import { startMaintenance } from "../../src/wiring/maintenance.ts";

const nothing = async () => undefined;

/** One round of the maintenance that every process runs on a timer, without that of files. `deletedTaskDays` is 0 by default. */
export async function runMaintenance(store: Store, clock: Clock, { deletedTaskDays = 0 } = {}): Promise<void> {
  const parts = { store, clock, log: () => undefined, config: { deletedTaskDays, webhookLogDays: 30 } };
  await startMaintenance(parts, backlog(store, 1), { write: nothing }, { retire: nothing }, { sweep: nothing, purge: nothing })();
}
