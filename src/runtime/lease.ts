import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { Store } from "../core/store.ts";

/** How often a process says that it lives. */
export const beatMs = 5_000;
/** A peer whose beat has not changed for so long is dead. */
export const deadMs = 15_000;
/** A process that could not beat for so long gives its runs up before it goes on. */
export const giveUpMs = 10_000;

/** This process among its peers: who lives is said by beats, measured on one's own monotonic clock. */
export interface Lease {
  /** The process's row; made anew when peers took it for dead. */
  nodeId(): string;
  /** Says that the process lives; false when its runs must be given up first. */
  beat(): Promise<boolean>;
  /** Peers whose runs may be taken over. */
  deadPeers(): Promise<readonly string[]>;
  /** Removes the row of a dead peer that owns nothing any more. */
  forget(nodeId: string): Promise<void>;
  release(): Promise<void>;
}

/** @param alone no other process can live beside this one, as the holder of `lock.db` knows. */
export async function openLease(store: Store, clock: Clock, ids: Ids, alone: boolean): Promise<Lease> {
  const seen = new Map<string, { readonly beat: number; readonly at: number }>();
  let id = await register();
  let lastBeat = clock.monotonic();

  async function register(): Promise<string> {
    const node = { id: ids.short(), beat: 0, startedAt: clock.now() };
    await store.change((tx) => tx.nodes.insert(node));
    return node.id;
  }

  function silentMs(peer: { readonly id: string; readonly beat: number }): number {
    const before = seen.get(peer.id);
    if (before?.beat === peer.beat) return clock.monotonic() - before.at;
    seen.set(peer.id, { beat: peer.beat, at: clock.monotonic() });
    return 0;
  }

  return {
    nodeId: () => id,
    async beat() {
      const inTime = clock.monotonic() - lastBeat <= giveUpMs;
      const known = await store.change((tx) => tx.nodes.raiseBeat(id));
      if (!known) id = await register();
      lastBeat = clock.monotonic();
      return inTime && known;
    },
    async deadPeers() {
      const peers = (await store.nodes.list()).filter((node) => node.id !== id);
      for (const known of seen.keys()) if (!peers.some((peer) => peer.id === known)) seen.delete(known);
      return peers.filter((peer) => silentMs(peer) >= deadMs || alone).map((peer) => peer.id);
    },
    forget: (nodeId) => store.change((tx) => tx.nodes.remove(nodeId)),
    release: () => store.change((tx) => tx.nodes.remove(id)),
  };
}
