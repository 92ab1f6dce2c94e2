import { hostname } from "node:os";
import { poll } from "../async/poll.ts";
import type { KeyRing } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { followKey, keysFollowMs, keysRenewMs, type ProcessFacts } from "../core/processes/key-rotation.ts";
import type { Store } from "../core/store.ts";
import { checkKey } from "../start/installation.ts";

interface Parts {
  readonly store: Store;
  readonly ring: KeyRing;
  readonly clock: Clock;
  readonly log: Log;
  readonly process: { id: string } & Pick<ProcessFacts, "role" | "version">;
}

/**
 * Shows this process with its encryption keys to others, and seals with the key that the database names. A
 * process with one key has nothing to follow: it stays with that key, and `rotate-key` waits for its restart.
 *
 * @returns ends it, and removes the row of this process.
 * @throws ConfigError when the database needs another key
 */
export async function showKeys({
  store,
  ring,
  clock,
  log,
  process: shown,
}: Parts): Promise<() => Promise<void>> {
  const facts = { ...shown, host: hostname(), pid: process.pid, startedAt: clock.now() };
  let renewedAt = facts.startedAt;
  const row = () => ({ ...facts, keys: ring.checks, renewedAt, memoryBytes: process.memoryUsage.rss() });
  // In one change: a switch of the key is before it, and then this process must know the new key, or sees its
  // row.
  await store.change(async (tx) => {
    await checkKey(tx, ring);
    await tx.processKeys.put(row());
  });
  const over = new AbortController();
  const renew = async () => {
    renewedAt = clock.now();
    await store.change((tx) => tx.processKeys.put(row()));
  };
  const renewOld = async () => {
    if (clock.now() - renewedAt >= keysRenewMs / 2) await renew();
  };
  const follow = async () => {
    const before = ring.check;
    await followKey(store, ring);
    if (ring.check !== before) await renew();
  };
  const polls = [poll(clock, keysRenewMs, over.signal, log, renewOld)];
  if (ring.checks.length > 1) polls.push(poll(clock, keysFollowMs, over.signal, log, follow));
  return async () => {
    over.abort();
    await Promise.all(polls);
    // Otherwise it lapses.
    await store.change((tx) => tx.processKeys.remove(facts.id)).catch(() => undefined);
  };
}
