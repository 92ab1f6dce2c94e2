import { replayMs } from "./call/replay.ts";
import type { FileSweep } from "./core/files/sweep.ts";
import type { KeyUses } from "./core/keys/key-uses.ts";
import type { SigningKeys } from "./core/oauth/signing-keys.ts";
import { type Backlog, countEveryMs } from "./core/tasks/backlog.ts";
import { repeat } from "./runtime/repeat.ts";
import type { Ground } from "./wiring/ground.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The list of keys may be late by this and a minute. */
const keyUsesEveryMs = 5_000;
/** What the clock ends has ended within a minute (contract/decisions.md 38). */
const filesEveryMs = 10_000;
/** Deleted tasks whose events are erased in one change. */
const eraseMax = 100;

/** What chores are done on, and how long a team's deleted tasks keep their events. */
export interface ChoreGround extends Pick<Ground, "store" | "clock" | "log"> {
  readonly config: Pick<Ground["config"], "deletedTaskDays">;
}

/** What every process does by the clock, whatever its role; the answer stops it. */
export function startChores(
  { store, clock, log, config: { deletedTaskDays } }: ChoreGround,
  waiting: Backlog,
  keyUses: Pick<KeyUses, "write">,
  signingKeys: Pick<SigningKeys, "retire">,
  files: FileSweep,
): () => Promise<void> {
  const stopping = new AbortController();
  const every = (ms: number, work: () => Promise<void>) => repeat(clock, ms, stopping.signal, log, work);
  async function writeKeyUses() {
    await keyUses.write();
  }
  const loops = [
    every(countEveryMs, () => waiting.count()),
    every(keyUsesEveryMs, writeKeyUses),
    every(filesEveryMs, async function sweepFiles() {
      await files.sweep(stopping.signal);
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
      });
    }),
    every(hourMs, async function eraseDeletedTasks() {
      const before = clock.now() - deletedTaskDays * dayMs;
      while ((await store.change((tx) => tx.events.eraseDeleted(before, eraseMax))) === eraseMax) if (stopping.signal.aborted) return;
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
