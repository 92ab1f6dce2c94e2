import type { Clock } from "../../src/core/clock.ts";
import type { Store } from "../../src/core/store.ts";
import { backlog } from "../../src/core/tasks/backlog.ts";
import type { ProveDomain } from "../../src/core/websites/domain.ts";
import { startMaintenance } from "../../src/wiring/maintenance.ts";

const provesAll: ProveDomain = async () => true;
const nothing = async () => undefined;

/** One round of the maintenance that every process runs on a timer, without that of files. `deletedTaskDays` is 0 by default. */
export async function runMaintenance(store: Store, clock: Clock, { deletedTaskDays = 0, prove = provesAll } = {}): Promise<void> {
  const parts = { store, clock, prove, log: () => undefined, config: { deletedTaskDays, webhookLogDays: 30, agentProfiles: {} } };
  await startMaintenance(parts, backlog(store, 1), { write: nothing }, { retire: nothing }, { sweep: nothing, purge: nothing })();
}
