import type { Clock } from "../../src/core/clock.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Retention } from "../../src/core/retention/retention.ts";
import type { Store } from "../../src/core/store.ts";
import { backlog } from "../../src/core/tasks/backlog.ts";
import type { ProveDomain } from "../../src/core/websites/domain.ts";
import { startMaintenance } from "../../src/wiring/maintenance.ts";
import { archiveFiles, noBlobs } from "./archive-files.ts";

const provesAll: ProveDomain = async () => true;
const nothing = async () => undefined;

/** What a round does; by default everything is kept, and every domain is proved. */
interface MaintenanceOptions {
  readonly deletedTaskDays?: number;
  readonly prove?: ProveDomain;
  readonly retention?: Partial<Retention>;
}

/** Settings that keep everything. */
export const keepsAll: Retention = { taskDays: 0, eventDays: 0, verboseEventDays: 0, archiveEventDays: 0, auditDays: 0, usageDays: 0 };

/** One round of the maintenance that every process runs on a timer, without that of files. `deletedTaskDays` is 0 by default. */
export async function runMaintenance(
  store: Store,
  clock: Clock,
  { deletedTaskDays = 0, prove = provesAll, retention = {} }: MaintenanceOptions = {},
): Promise<void> {
  const config = { deletedTaskDays, webhookLogDays: 30, agentProfiles: {}, retention: { ...keepsAll, ...retention } };
  const parts = { store, clock, prove, config, ids: systemIds, log: () => undefined };
  const files = { sweep: nothing, purge: nothing };
  await startMaintenance(parts, backlog(store, 1), { write: nothing }, { retire: nothing }, files, archiveFiles(store, noBlobs))();
}
