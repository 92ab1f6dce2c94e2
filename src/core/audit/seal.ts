import type { Clock } from "../clock.ts";
import type { Store, Tx } from "../store.ts";
import { type ChainHead, type SealedRow, sealRows } from "./chain.ts";
import { sealableBefore } from "./refusals.ts";

/** Rows sealed per change: few, so that on SQLite no other change waits for long. */
const rowsMax = 500;
/** Spaces whose heads one change locks. */
const spacesMax = 50;

/** Seals the unsealed rows of all spaces and returns their number. */
export type Seal = (signal: AbortSignal) => Promise<number>;

/**
 * Sealing is separate from the changes that insert rows. They do not wait for it, because
 * sealing locks only the head of a space. One process at a time seals a space; other processes
 * skip it. A process that dies during sealing leaves the chain unchanged.
 */
export function sealer(store: Pick<Store, "change" | "auditChain">, clock: Pick<Clock, "now">): Seal {
  /** Seals some rows of every space in turn, so that no space waits until another one is finished. */
  async function pass(refusedBefore: number, signal: AbortSignal): Promise<Sealed> {
    const sum = { count: 0, more: false };
    for (let after: string | undefined = ""; after !== undefined && !signal.aborted; ) {
      const spaces = await store.auditChain.unsealedSpaces(after, refusedBefore, spacesMax);
      if (spaces.length === 0) break;
      const { count, more, lockedCount } = await store.change((tx) => sealSome(tx, spaces, refusedBefore));
      const createdCount =
        lockedCount < spaces.length ? await store.change((tx) => tx.auditChain.makeHeads(spaces)) : 0;
      sum.count += count;
      sum.more ||= more || createdCount > 0;
      after = spaces.length === spacesMax ? spaces.at(-1) : undefined;
    }
    return sum;
  }

  return async (signal) => {
    let count = 0;
    for (let more = true; more && !signal.aborted; ) {
      const sum = await pass(sealableBefore(clock.now()), signal);
      count += sum.count;
      more = sum.more;
    }
    return count;
  };
}

interface Sealed {
  readonly count: number;
  /** A space has rows left. */
  readonly more: boolean;
}

async function sealSome(
  tx: Tx,
  spaceIds: readonly string[],
  refusedBefore: number,
): Promise<Sealed & { lockedCount: number }> {
  const share = Math.floor(rowsMax / spaceIds.length);
  const heads = new Map<string, ChainHead>();
  const all: SealedRow[] = [];
  let more = false;
  const locked = await tx.auditChain.lockHeads(spaceIds);
  for (const [spaceId, head] of locked) {
    const rows = sealRows(head, await tx.auditChain.unsealed(spaceId, refusedBefore, share));
    const last = rows.at(-1);
    if (last !== undefined) heads.set(spaceId, { seq: last.seq, hash: last.hash });
    all.push(...rows);
    more ||= rows.length === share;
  }
  if (all.length > 0) await tx.auditChain.seal(all, heads);
  return { count: all.length, more, lockedCount: locked.size };
}
