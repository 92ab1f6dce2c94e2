import type { Clock } from "../core/clock.ts";
import type { Node, NodeRows } from "../core/nodes/node.ts";
import { giveUpMs } from "./lease.ts";

const lookMs = 500;

/**
 * Finds another living process that runs tasks on this database, before this one has a row: one whose beat rises, or
 * that comes meanwhile. A living one is seen within 5 s. Rows of the dead take 10 s to be known as such.
 */
export async function findLivingPeer(nodes: Pick<NodeRows, "list">, clock: Clock): Promise<Node | null> {
  const known = new Map((await nodes.list()).map(({ id, beat }) => [id, beat]));
  const begun = clock.monotonic();
  while (known.size > 0 && clock.monotonic() - begun < giveUpMs) {
    await clock.sleep(lookMs);
    const peers = await nodes.list();
    const living = peers.find(({ id, beat }) => known.get(id) !== beat);
    if (living) return living;
    if (peers.length === 0) return null;
  }
  return null;
}
