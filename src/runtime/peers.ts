import type { Clock } from "../core/clock.ts";
import type { Node, NodeRows } from "../core/processes/shared.ts";
import type { Tx } from "../core/store.ts";
import { abandonAfterMs } from "./lease.ts";

const lookMs = 500;

/** Other processes that run tasks on this database, as seen by a process that has no row yet. */
export interface Peers {
  /** A live process: its heartbeat rises, or its row is new. Null without one. */
  readonly live: Node | null;
  /** The ids of rows whose processes are dead. */
  readonly dead: ReadonlySet<string>;
}

/**
 * Looks for peers until one is found live, within 5 s, or all rows are known to be of dead processes, after
 * 10 s.
 */
export async function findPeers(nodes: Pick<NodeRows, "list">, clock: Clock): Promise<Peers> {
  const known = new Map((await nodes.list()).map(({ id, beat }) => [id, beat]));
  const dead = new Set(known.keys());
  const begun = clock.monotonic();
  while (known.size > 0 && clock.monotonic() - begun < abandonAfterMs) {
    await clock.sleep(lookMs);
    const peers = await nodes.list();
    const living = peers.find(({ id, beat }) => known.get(id) !== beat);
    if (living) return { live: living, dead: new Set() };
    if (peers.length === 0) break;
  }
  return { live: null, dead };
}

const lockName = "node-start";

/**
 * Finds a process that has written its row since `findPeers`. Call it in the change that inserts this
 * process's row: such changes run sequentially, so when several processes start at once, only the first finds
 * none.
 */
export async function findNewPeer(
  { settings, nodes }: Pick<Tx, "settings" | "nodes">,
  dead: Peers["dead"],
): Promise<Node | null> {
  // The next change that puts this setting waits until this change has ended.
  await settings.put(lockName, "");
  return (await nodes.list()).find(({ id }) => !dead.has(id)) ?? null;
}
