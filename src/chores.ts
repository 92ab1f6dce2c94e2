import { replayMs } from "./call/replay.ts";
import type { Clock } from "./core/clock.ts";
import type { KeyUses } from "./core/keys/key-uses.ts";
import type { Log } from "./core/log.ts";
import type { SigningKeys } from "./core/oauth/signing-keys.ts";
import type { Store } from "./core/store.ts";
import { type Backlog, countEveryMs } from "./core/tasks/backlog.ts";
import { repeat } from "./runtime/repeat.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The list of keys may be late by this and a minute. */
const keyUsesEveryMs = 5_000;
/** Deleted tasks whose events are erased in one change. */
const eraseMax = 100;

/** What a process does by the clock depends on this much configuration. */
export interface Keeping {
  /** How long a team's deleted tasks keep their events. */
  readonly deletedTaskDays: number;
}

/** What every process does by the clock, whatever its role; the answer stops it. */
export function startChores(
  store: Store,
  clock: Clock,
  log: Log,
  waiting: Backlog,
  { deletedTaskDays }: Keeping,
  keys: Pick<SigningKeys, "retire">,
  keyUses: Pick<KeyUses, "write">,
): () => Promise<void> {
  const stopping = new AbortController();
  const every = (ms: number, work: () => Promise<void>) => repeat(clock, ms, stopping.signal, log, work);
  async function writeKeyUses() {
    await keyUses.write();
  }
  const loops = [
    every(countEveryMs, () => waiting.count()),
    every(keyUsesEveryMs, writeKeyUses),
    every(hourMs, async function forgetReplays() {
      await store.change((tx) => tx.replays.purge(clock.now() - replayMs));
    }),
    every(hourMs, async function eraseDeletedTasks() {
      const before = clock.now() - deletedTaskDays * dayMs;
      while ((await store.change((tx) => tx.events.eraseDeleted(before, eraseMax))) === eraseMax) if (stopping.signal.aborted) return;
    }),
    every(hourMs, async function forgetTokens() {
      // A day longer than they were good for: a second use is known for one.
      await store.change((tx) => tx.codes.purge(clock.now() - dayMs));
      await store.change((tx) => tx.families.purge(clock.now() - dayMs));
      await keys.retire();
    }),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(loops);
    await keyUses.write().catch((cause: unknown) => log("error", "the last uses of keys were not written", { cause }));
  };
}
