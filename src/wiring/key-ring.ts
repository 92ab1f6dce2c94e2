import { poll } from "../async/poll.ts";
import type { KeyRing } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { followKey, keysFollowMs, keysRenewMs } from "../core/processes/key-rotation.ts";
import type { Store } from "../core/store.ts";
import { checkKey } from "../installation.ts";

interface Parts {
  readonly store: Store;
  readonly ring: KeyRing;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  readonly log: Log;
}

/**
 * Shows other processes which encryption keys this one has, and seals with the key that the database names. A process with one key has
 * nothing to follow: it stays with that key, and `rotate-key` waits for its restart.
 *
 * @returns ends it, and removes the row of this process.
 * @throws ConfigError when the database needs another key
 */
export async function showKeys({ store, ring, clock, ids, log }: Parts): Promise<() => Promise<void>> {
  const id = ids.short();
  let renewedAt = clock.now();
  // In one change: a switch of the key is before it, and then this process must know the new key, or sees its row.
  await store.change(async (tx) => {
    await checkKey(tx, ring);
    await tx.processKeys.put({ id, keys: ring.checks, renewedAt });
  });
  const over = new AbortController();
  const renew = async () => {
    renewedAt = clock.now();
    await store.change((tx) => tx.processKeys.put({ id, keys: ring.checks, renewedAt }));
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
    await store.change((tx) => tx.processKeys.remove(id)).catch(() => undefined);
  };
}
