import { purgeConnectorSignIns } from "../core/connectors/connector.ts";
import { purgeArchives } from "../core/exports/export.ts";
import { purgeFiles, sweepFiles } from "../core/files/sweep.ts";
import { purgeIdempotencyRecords } from "../core/idempotency/idempotency-record.ts";
import { writeKeyUses } from "../core/keys/api-keys.ts";
import { purgeCodes } from "../core/oauth/code.ts";
import { purgeDevices } from "../core/oauth/device.ts";
import { purgeFamilies } from "../core/oauth/family.ts";
import { purgeUnusedClients } from "../core/oauth/registration.ts";
import { retireSigningKeys } from "../core/oauth/signing-key.ts";
import { purgeProcesses } from "../core/processes/key-rotation.ts";
import type { JobNeeds, TimedJob } from "../core/processes/timed-job.ts";
import { detachTasks, purgeProjects } from "../core/projects/project.ts";
import { purgePushConfigs } from "../core/push/push-config.ts";
import { shrinkDatabase } from "../core/retention/shrink.ts";
import { purgeTickets } from "../core/sign-in/factor.ts";
import { purgeLinks } from "../core/sign-in/link.ts";
import { purgeMailedLinks } from "../core/sign-in/mailed-link.ts";
import { purgeSessions } from "../core/sign-in/sign-in.ts";
import type { Tx } from "../core/store.ts";
import { countWaiting } from "../core/tasks/backlog.ts";
import { purgeEvents } from "../core/tasks/event.ts";
import { indexTexts } from "../core/tasks/search-tokens.ts";
import { releaseHolds } from "../core/usage/spend.ts";
import { retain } from "../core/use-cases/retain.ts";
import { purgeDeliveries, purgeWebhookEvents } from "../core/webhooks/delivery-log.ts";
import { purgeListeners } from "../core/webhooks/listener.ts";
import { purgeWebhookKeys, purgeWebhooks } from "../core/webhooks/webhook.ts";
import { checkCustomDomains } from "../core/websites/domains.ts";
import { purgeVisits } from "../core/websites/visit.ts";
import { purgeFailures } from "../core/workers/worker.ts";
import { releaseLapsedRuns } from "../runtime/remote/held-run.ts";
import { endTurns } from "../runtime/time-limits.ts";

/** The rows that can purge: each needs a job, or the process keeps what nothing needs. */
type Purging = {
  [Rows in keyof Tx]: Extract<keyof Tx[Rows], `purge${string}`> extends never ? never : Rows;
}[keyof Tx];

const purges = {
  codes: [purgeCodes],
  connectors: [purgeConnectorSignIns],
  deliveryLog: [purgeDeliveries, purgeWebhookEvents],
  devices: [purgeDevices],
  events: [purgeEvents],
  exports: [purgeArchives],
  factors: [purgeTickets],
  families: [purgeFamilies],
  files: [sweepFiles, purgeFiles],
  idempotency: [purgeIdempotencyRecords],
  links: [purgeLinks],
  listeners: [purgeListeners],
  mailedLinks: [purgeMailedLinks],
  processKeys: [purgeProcesses],
  projects: [detachTasks, purgeProjects],
  pushConfigs: [purgePushConfigs],
  registrations: [purgeUnusedClients],
  sessions: [purgeSessions],
  siteVisits: [purgeVisits],
  webhookKeys: [purgeWebhookKeys],
  webhooks: [purgeWebhooks],
  workers: [purgeFailures],
} as const satisfies Record<Purging, readonly TimedJob<never>[]>;

const others = [
  retain,
  countWaiting,
  writeKeyUses,
  releaseLapsedRuns,
  endTurns,
  indexTexts,
  releaseHolds,
  checkCustomDomains,
  retireSigningKeys,
  shrinkDatabase,
] as const;

type Job = (typeof others)[number] | (typeof purges)[Purging][number];

export type AllNeeds = JobNeeds & UnionToIntersection<Parameters<Job["run"]>[0]>;
type UnionToIntersection<T> = (T extends unknown ? (of: T) => void : never) extends (of: infer All) => void
  ? All
  : never;

/** The timed jobs of every process, in any role. */
export const allJobs: readonly TimedJob<AllNeeds>[] = [...others, ...Object.values(purges).flat()];
