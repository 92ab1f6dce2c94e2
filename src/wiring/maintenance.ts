import { poll } from "../async/poll.ts";
import { idempotencyWindowMs } from "../call/idempotency.ts";
import { archiveMs } from "../core/exports/export.ts";
import type { FileSweep } from "../core/files/sweep.ts";
import type { KeyUses } from "../core/keys/api-keys.ts";
import { purgeRegistrations } from "../core/oauth/registration.ts";
import type { SigningKeys } from "../core/oauth/signing-key.ts";
import { shrink } from "../core/retention/shrink.ts";
import type { Tx } from "../core/store.ts";
import { type Backlog, countEveryMs } from "../core/tasks/backlog.ts";
import { releaseStale } from "../core/usage/spend.ts";
import { type RetainParts, retainer } from "../core/use-cases/retain.ts";
import { checkDomains } from "../core/websites/domains.ts";
import { failuresKeptMs } from "../core/workers/worker.ts";
import { sweepWorkerRuns } from "../runtime/remote/held-run.ts";
import { endOverdueTurns } from "../runtime/time-limits.ts";
import type { ProcessContext } from "./process-context.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The last use in the list of keys may be late by this and a minute. */
const keyUsesEveryMs = 5_000;
/** A silent worker loses its run at most this long after its lease ends. */
const leasesEveryMs = 1_000;
/** A turn ends at most this long after its time limit. */
const turnsEveryMs = 1_000;
/** Expired files are purged within a minute (spec/decisions.md 38). */
const filesEveryMs = 10_000;
/** A lost run's reservation is released within this time. */
const holdsEveryMs = 10_000;
/** Tasks are removed from a deleted project within a minute (spec/api.md 8.36). */
const detachEveryMs = 10_000;
/** A custom domain's daily check begins at most this long after it is due. */
const domainsEveryMs = 60_000;
/** Tasks that are removed from deleted projects in one change. */
const detachMax = 500;
/** Texts that processes of an earlier release wrote can be searched within a minute. */
const indexEveryMs = 10_000;
/** Tasks whose texts are indexed in one change. */
const indexMax = 50;
/** Deleted tasks whose events are purged in one change. */
const eraseMax = 100;

/** An unused registration of an OAuth client is deleted at most this long after its day. */
const registrationsEveryMs = 60_000;

/** A listener of a dead process is removed at most this long after its lease ends. */
const listenersEveryMs = 60_000;

/** Rows of the webhook log that are purged in one change. */
const logMax = 500;

/** Archives that are purged in one change. */
const archivesMax = 100;

/** Dependencies of maintenance, and the retention of deleted tasks and webhook logs. */
export interface MaintenanceParts
  extends Pick<ProcessContext, "store" | "clock" | "log" | "prove" | "ids">,
    Partial<Pick<ProcessContext, "observe">> {
  readonly config: Pick<ProcessContext["config"], "deletedTaskDays" | "webhookLogDays" | "retention">;
}

/** Starts the timers of every process, in any role; the returned function stops them. */
export function startMaintenance(
  { store, clock, ids, log, prove, config, observe }: MaintenanceParts,
  waiting: Backlog,
  keyUses: Pick<KeyUses, "write">,
  signingKeys: Pick<SigningKeys, "retire">,
  files: FileSweep,
  archive: RetainParts["archive"],
): () => Promise<void> {
  const { deletedTaskDays, webhookLogDays } = config;
  const stopping = new AbortController();
  const every = (ms: number, work: () => Promise<void>) => poll(clock, ms, stopping.signal, log, work);
  /** Runs one change per batch, so that other changes are not blocked, until no rows are left. */
  async function inBatches(max: number, work: (tx: Tx) => Promise<number>) {
    while ((await store.change(work)) === max) if (stopping.signal.aborted) return;
  }
  async function writeKeyUses() {
    await keyUses.write();
  }
  const keepsEvents = deletedTaskDays > 0;
  const retain = retainer({ store, clock, ids, retention: config.retention, keepsEvents, archive });
  const loops = [
    ...(retain
      ? [
          every(hourMs, async function removeOldData() {
            await retain(stopping.signal);
          }),
        ]
      : []),
    every(countEveryMs, () => waiting.count()),
    every(keyUsesEveryMs, writeKeyUses),
    every(leasesEveryMs, async function releaseLapsedRuns() {
      await sweepWorkerRuns({ store, clock, ...(observe && { observe }) });
    }),
    every(turnsEveryMs, async function endTurns() {
      await endOverdueTurns({ store, clock });
    }),
    every(filesEveryMs, async function sweepFiles() {
      await files.sweep(stopping.signal);
    }),
    every(hourMs, async function purgeArchives() {
      const createdBefore = clock.now() - archiveMs;
      await inBatches(archivesMax, async (tx) => {
        const purged = await tx.exports.purge(createdBefore, clock.now(), archivesMax);
        await tx.blobs.drop(purged);
        return purged.length;
      });
    }),
    every(detachEveryMs, async function detachTasks() {
      for (let id = await store.projects.findDeletedWithTasks(); id !== null; id = await store.projects.findDeletedWithTasks()) {
        const project = id;
        await inBatches(detachMax, (tx) => tx.projects.detachTasks(project, detachMax, clock.now()));
        if (stopping.signal.aborted) return;
      }
    }),
    every(indexEveryMs, async function indexTexts() {
      for (let ids = await store.tasks.listNotIndexed(indexMax); ids.length > 0; ids = await store.tasks.listNotIndexed(indexMax)) {
        const batch = ids;
        await store.change((tx) => tx.tasks.indexTexts(batch));
        if (stopping.signal.aborted) return;
      }
    }),
    every(hourMs, async function purgeProjects() {
      // A change that created a task may commit after the one that deleted its project.
      await inBatches(eraseMax, (tx) => tx.projects.purge(clock.now() - hourMs, eraseMax));
    }),
    every(holdsEveryMs, async function releaseHolds() {
      await releaseStale(store, clock, stopping.signal);
    }),
    every(hourMs, async function purgeFiles() {
      await files.purge();
    }),
    every(hourMs, async function purgeIdempotencyRecords() {
      await store.change((tx) => tx.idempotency.purge(clock.now() - idempotencyWindowMs));
    }),
    every(hourMs, async function purgeSessions() {
      await store.change(async (tx) => {
        await tx.sessions.purge(clock.now());
        // A used link is kept for a day: it shows how its session began.
        await tx.links.purge(clock.now() - dayMs);
        await tx.mailedLinks.purge(clock.now() - dayMs);
        await tx.siteVisits.purge(clock.now());
        await tx.factors.purgeTickets(clock.now());
      });
    }),
    every(hourMs, async function purgeDeletedTasks() {
      const before = clock.now() - deletedTaskDays * dayMs;
      await inBatches(eraseMax, (tx) => tx.events.deleteOfDeletedTasks(before, eraseMax));
    }),
    every(hourMs, async function purgeDeliveries() {
      const before = clock.now() - webhookLogDays * dayMs;
      await inBatches(logMax, (tx) => tx.deliveryLog.purge(before, logMax));
      await inBatches(logMax, (tx) => tx.deliveryLog.purgeEvents(before, logMax));
      await inBatches(logMax, (tx) => tx.webhooks.purge(before, logMax));
      await store.change((tx) => tx.webhookKeys.purge(clock.now()));
    }),
    every(hourMs, async function purgePushConfigs() {
      await inBatches(logMax, (tx) => tx.pushConfigs.purge(logMax));
    }),
    every(hourMs, async function shrinkDatabase() {
      await shrink(store, clock, stopping.signal);
    }),
    every(listenersEveryMs, async function purgeListeners() {
      await store.change((tx) => tx.listeners.purge(clock.now()));
    }),
    every(domainsEveryMs, async function checkCustomDomains() {
      await checkDomains({ store, clock, prove }, stopping.signal);
    }),
    every(hourMs, async function purgeWorkerFailures() {
      await store.change((tx) => tx.workers.purgeFailures(clock.now() - failuresKeptMs));
    }),
    every(hourMs, async function purgeProcesses() {
      await store.change((tx) => tx.processKeys.purge(clock.now() - dayMs));
    }),
    every(hourMs, async function purgeConnectorSignIns() {
      await store.change((tx) => tx.connectors.purgeAuthorizations(clock.now()));
    }),
    every(registrationsEveryMs, async function purgeUnusedClients() {
      await store.change((tx) => purgeRegistrations(tx, clock.now()));
    }),
    every(hourMs, async function purgeTokens() {
      // Kept for a day after they expire, to detect a second use.
      await store.change(async (tx) => {
        await tx.codes.purge(clock.now() - dayMs);
        await tx.devices.purge(clock.now() - dayMs);
      });
      await store.change((tx) => tx.families.purge(clock.now() - dayMs));
      await signingKeys.retire();
    }),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(loops);
    await keyUses.write().catch((cause: unknown) => log("error", "the last uses of keys were not written", { cause }));
  };
}
