import type { Clock } from "../../src/core/clock.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Retention } from "../../src/core/retention/retention.ts";
import type { Store } from "../../src/core/store.ts";
import type { ProveDomain } from "../../src/core/websites/domain.ts";
import { allJobs } from "../../src/jobs/all.ts";
import { archiveFiles, noBlobs } from "./archive-files.ts";
import { unpublished } from "./claims.ts";

const provesAll: ProveDomain = async () => true;
const nothing = async () => undefined;

/** What a round does; by default everything is kept, and every domain is proved. */
interface JobOptions {
  readonly deletedTaskDays?: number;
  readonly prove?: ProveDomain;
  readonly retention?: Partial<Retention>;
}

/** Settings that keep everything. */
export const keepsAll: Retention = {
  taskDays: 0,
  eventDays: 0,
  verboseEventDays: 0,
  archiveEventDays: 0,
  auditDays: 0,
  usageDays: 0,
};

/** Runs each timed job once, sequentially, without those of files. `deletedTaskDays` is 0 by default. */
export async function runJobs(
  store: Store,
  clock: Clock,
  { deletedTaskDays = 0, prove = provesAll, retention = {} }: JobOptions = {},
): Promise<void> {
  const config = { deletedTaskDays, webhookLogDays: 30, retention: { ...keepsAll, ...retention } };
  const needs = {
    ...{ store, clock, prove, config },
    ids: systemIds,
    publishTask: unpublished,
    backlog: { count: nothing },
    uses: { write: nothing },
    signingKeys: { retire: nothing },
    files: { sweep: nothing, purge: nothing },
    archive: archiveFiles(store, noBlobs),
  };
  // In their order: events are deleted after their deliveries.
  for (const job of allJobs) await job.run(needs, new AbortController().signal);
}
