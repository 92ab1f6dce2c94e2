import { replayMs } from "./call/replay.ts";
import { archiveMs } from "./core/exports/lifecycle.ts";
import type { FileSweep } from "./core/files/sweep.ts";
import type { KeyUses } from "./core/keys/key-uses.ts";
import type { SigningKeys } from "./core/oauth/signing-keys.ts";
import { repeat } from "./core/repeat.ts";
import type { Tx } from "./core/store.ts";
import { type Backlog, countEveryMs } from "./core/tasks/backlog.ts";
import { releaseStale } from "./core/usage/reserve.ts";
import { sweepWorkerRuns } from "./runtime/remote/sweep.ts";
import type { Ground } from "./wiring/ground.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The list of keys may be late by this and a minute. */
const keyUsesEveryMs = 5_000;
/** A worker that says nothing loses its run by this much after its lease. */
const leasesEveryMs = 1_000;
/** What the clock ends has ended within a minute (contract/decisions.md 38). */
const filesEveryMs = 10_000;
/** What a lost run has reserved is free again within this. */
const holdsEveryMs = 10_000;
/** Deleted tasks whose events are erased in one change. */
const eraseMax = 100;

/** Rows of the log of webhooks that are removed in one change. */
const logMax = 500;

/** Archives that are given up in one change. */
const archivesMax = 100;

/** What chores are done on, and how long what is deleted or delivered is kept. */
export interface ChoreGround extends Pick<Ground, "store" | "clock" | "log"> {
  readonly config: Pick<Ground["config"], "deletedTaskDays" | "webhookLogDays">;
}

/** What every process does by the clock, whatever its role; the answer stops it. */
export function startChores(
  { store, clock, log, config: { deletedTaskDays, webhookLogDays } }: ChoreGround,
  waiting: Backlog,
  keyUses: Pick<KeyUses, "write">,
  signingKeys: Pick<SigningKeys, "retire">,
  files: FileSweep,
): () => Promise<void> {
  const stopping = new AbortController();
  const every = (ms: number, work: () => Promise<void>) => repeat(clock, ms, stopping.signal, log, work);
  /** A change for each batch, so that none holds others up, until there is no more. */
  async function inBatches(max: number, work: (tx: Tx) => Promise<number>) {
    while ((await store.change(work)) === max) if (stopping.signal.aborted) return;
  }
  async function writeKeyUses() {
    await keyUses.write();
  }
  const loops = [
    every(countEveryMs, () => waiting.count()),
    every(keyUsesEveryMs, writeKeyUses),
    every(leasesEveryMs, async function giveBackLapsedRuns() {
      await sweepWorkerRuns({ store, clock });
    }),
    every(filesEveryMs, async function sweepFiles() {
      await files.sweep(stopping.signal);
    }),
    every(hourMs, async function purgeArchives() {
      const until = clock.now() - archiveMs;
      await inBatches(archivesMax, async (tx) => {
        const purged = await tx.exports.purge(until, clock.now(), archivesMax);
        await tx.blobs.drop(purged);
        return purged.length;
      });
    }),
    every(holdsEveryMs, async function releaseHolds() {
      await releaseStale(store, clock, stopping.signal);
    }),
    every(hourMs, async function forgetFiles() {
      await files.forget();
    }),
    every(hourMs, async function forgetReplays() {
      await store.change((tx) => tx.replays.purge(clock.now() - replayMs));
    }),
    every(hourMs, async function forgetSessions() {
      await store.change(async (tx) => {
        await tx.sessions.purge(clock.now());
        // A used link tells for a while how its session began.
        await tx.links.purge(clock.now() - dayMs);
        await tx.siteVisits.purge(clock.now());
      });
    }),
    every(hourMs, async function eraseDeletedTasks() {
      const before = clock.now() - deletedTaskDays * dayMs;
      await inBatches(eraseMax, (tx) => tx.events.eraseDeleted(before, eraseMax));
    }),
    every(hourMs, async function forgetDeliveries() {
      const before = clock.now() - webhookLogDays * dayMs;
      await inBatches(logMax, (tx) => tx.deliveryLog.purge(before, logMax));
      await inBatches(logMax, (tx) => tx.deliveryLog.purgeEvents(before, logMax));
      await inBatches(logMax, (tx) => tx.webhooks.purge(before, logMax));
    }),
    every(hourMs, async function forgetConnectorSignIns() {
      await store.change((tx) => tx.connectors.purgeAuthorizations(clock.now()));
    }),
    every(hourMs, async function forgetTokens() {
      // A day longer than they were good for: a second use is known for one.
      await store.change((tx) => tx.codes.purge(clock.now() - dayMs));
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
