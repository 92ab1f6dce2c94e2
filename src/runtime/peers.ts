import type { Clock } from "../core/clock.ts";
import type { Node, NodeRows } from "../core/nodes/node.ts";
import type { Tx } from "../core/store.ts";
import { giveUpMs } from "./lease.ts";

const lookMs = 500;

/** Other processes that run tasks on this database, as a process finds them that has no row yet. */
export interface Peers {
  /** One that lives: its beat rises, or its row is new. Null when there is none. */
  readonly living: Node | null;
  /** The ids of rows whose processes are dead. */
  readonly dead: ReadonlySet<string>;
}

/** Looks for peers until one is seen to live, 5 s at most, or all rows are known to be of the dead, which takes 10 s. */
export async function findPeers(nodes: Pick<NodeRows, "list">, clock: Clock): Promise<Peers> {
  const known = new Map((await nodes.list()).map(({ id, beat }) => [id, beat]));
  const dead = new Set(known.keys());
  const begun = clock.monotonic();
  while (known.size > 0 && clock.monotonic() - begun < giveUpMs) {
    await clock.sleep(lookMs);
    const peers = await nodes.list();
    const living = peers.find(({ id, beat }) => known.get(id) !== beat);
    if (living) return { living, dead: new Set() };
    if (peers.length === 0) break;
  }
  return { living: null, dead };
}

const lockName = "node-start";

/**
 * Finds a process that has written its row since `findPeers`. To be called in the change that writes this process's
 * own row: such changes run one after the other, so of processes that start at once the first one alone finds none.
 */
export async function findNewPeer({ settings, nodes }: Pick<Tx, "settings" | "nodes">, dead: Peers["dead"]): Promise<Node | null> {
  // The next change that puts this setting waits until this one has ended.
  await settings.put(lockName, "");
  return (await nodes.list()).find(({ id }) => !dead.has(id)) ?? null;
}
