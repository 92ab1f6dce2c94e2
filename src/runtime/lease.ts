import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";

/** How often a process says that it lives. */
export const beatMs = 5_000;
/** A peer whose beat has not changed for so long is dead. */
export const deadMs = 15_000;
/** A process that could not beat for so long gives its runs up before it goes on. */
export const giveUpMs = 10_000;

/**
 * This process among its peers. Who lives is said by beats: each process raises its
 * own, and compares those of the others on its own monotonic clock, so that nobody's
 * idea of the time of day matters.
 */
export interface Lease {
  /** The process's row; made anew when peers took it for dead. */
  nodeId(): string;
  /** Writes the address of this process's pages to its row, and to rows that replace it. */
  announce(address: string): Promise<void>;
  /**
   * A change that raises the beat too, so that what it writes in the process's name
   * is written by a living one. Null, and nothing done, when peers took the process
   * for dead: then its runs are lost, and its next life has another row.
   */
  alive<T>(work: (tx: Tx, nodeId: string) => Promise<T>): Promise<T | null>;
  /** True when the last beat is so long ago that runs must be given up. */
  lapsed(): boolean;
  /** Peers whose runs may be taken over. */
  deadPeers(): Promise<readonly string[]>;
  /** Removes the row of a dead peer, or at the end one's own, unless it owns something still. */
  forget(nodeId: string): Promise<void>;
}

/** Throws where this process must not run tasks. */
export type StartCheck = (tx: Tx) => Promise<void>;

/**
 * @param alone no other process can live beside this one, as the holder of `lock.db` knows.
 * @param check runs in the change that writes the first row; when it throws, no row is written.
 */
export async function openLease(store: Store, clock: Clock, ids: Ids, alone: boolean, check?: StartCheck): Promise<Lease> {
  let lastBeat = clock.monotonic();
  let address: string | null = null;
  let id = await register(check);
  let renewal: Promise<void> | undefined;
  const silence = listener(clock);

  async function register(admit?: StartCheck): Promise<string> {
    const node = { id: ids.short(), beat: 0, startedAt: clock.now(), address };
    await store.change(async (tx) => {
      await admit?.(tx);
      await tx.nodes.insert(node);
    });
    return node.id;
  }

  /** Once, however many find at the same time that the row is gone. */
  function renew(lost: string): Promise<void> {
    if (id !== lost) return Promise.resolve();
    renewal ??= register()
      .then((fresh) => {
        id = fresh;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  return {
    nodeId: () => id,
    async announce(announced) {
      address = announced;
      await store.change((tx) => tx.nodes.setAddress(id, announced));
    },
    async alive(work) {
      const begun = clock.monotonic();
      const nodeId = id;
      const done = await store.change(async (tx) => ((await tx.nodes.raiseBeat(nodeId)) ? { result: await work(tx, nodeId) } : null));
      if (done === null) await renew(nodeId);
      lastBeat = Math.max(lastBeat, begun);
      return done === null ? null : done.result;
    },
    lapsed: () => clock.monotonic() - lastBeat > giveUpMs,
    async deadPeers() {
      const asked = clock.monotonic();
      const peers = (await store.nodes.list()).filter((node) => node.id !== id);
      const silent = silence(peers, asked);
      return peers.filter((peer) => alone || silent(peer) >= deadMs).map((peer) => peer.id);
    },
    async forget(nodeId) {
      await store.change(async (tx) => {
        // Takes the row's lock: whoever claims in its name at this moment was before, and is seen, or finds the row gone.
        await tx.nodes.raiseBeat(nodeId);
        if ((await tx.tasks.owned([nodeId])).length > 0) return;
        await tx.browsers.forgetNode(nodeId);
        await tx.nodes.remove(nodeId);
      });
    },
  };
}

interface Beat {
  readonly id: string;
  readonly beat: number;
}

/** Measures for how long each peer's beat has been the same. */
function listener(clock: Clock): (peers: readonly Beat[], asked: number) => (peer: Beat) => number {
  let heard = new Map<string, { readonly beat: number; readonly at: number }>();
  let last = Number.NEGATIVE_INFINITY;
  return (peers, asked) => {
    // Silence counts only while somebody listens: a process that was held up itself, or cut off from the database, begins anew.
    const before = asked - last > beatMs ? new Map<string, never>() : heard;
    last = clock.monotonic();
    heard = new Map(
      peers.map(({ id, beat }) => {
        const known = before.get(id);
        return [id, known?.beat === beat ? known : { beat, at: last }];
      }),
    );
    const now = heard;
    return ({ id }) => asked - (now.get(id)?.at ?? asked);
  };
}
