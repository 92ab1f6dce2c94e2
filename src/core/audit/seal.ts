import type { Clock } from "../clock.ts";
import type { Store, Tx } from "../store.ts";
import { type ChainHead, type SealedRow, sealed } from "./chain.ts";
import { settledBefore } from "./refusals.ts";

/** Rows that are sealed in one change, so that on SQLite no other change waits for long. */
const rowsMax = 500;
/** Spaces whose heads one change holds. */
const spacesMax = 50;

/** Seals what is not sealed yet, of all spaces, and answers how many rows that were. */
export type Seal = (signal: AbortSignal) => Promise<number>;

/**
 * Sealing stands beside the changes: they insert their rows and wait for nobody, and whoever
 * seals a space locks its head alone. Of several processes one seals a space, and the others
 * pass it over. A process that dies while it seals leaves the chain as it was.
 */
export function sealer(store: Pick<Store, "change" | "auditChain">, clock: Pick<Clock, "now">): Seal {
  /** Every space in turn, so that none waits for another's rest. */
  async function pass(refusedBefore: number, signal: AbortSignal): Promise<Sealed> {
    const sum = { count: 0, more: false };
    for (let after: string | undefined = ""; after !== undefined && !signal.aborted; ) {
      const spaces = await store.auditChain.unsealedSpaces(after, refusedBefore, spacesMax);
      if (spaces.length === 0) break;
      const { count, more, held } = await store.change((tx) => sealSome(tx, spaces, refusedBefore));
      const made = held < spaces.length ? await store.change((tx) => tx.auditChain.makeHeads(spaces)) : 0;
      sum.count += count;
      sum.more ||= more || made > 0;
      after = spaces.length === spacesMax ? spaces.at(-1) : undefined;
    }
    return sum;
  }

  return async (signal) => {
    let count = 0;
    for (let more = true; more && !signal.aborted; ) {
      const sum = await pass(settledBefore(clock.now()), signal);
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

async function sealSome(tx: Tx, spaceIds: readonly string[], refusedBefore: number): Promise<Sealed & { readonly held: number }> {
  const share = Math.floor(rowsMax / spaceIds.length);
  const heads = new Map<string, ChainHead>();
  const all: SealedRow[] = [];
  let more = false;
  const locked = await tx.auditChain.lockHeads(spaceIds);
  for (const [spaceId, head] of locked) {
    const rows = sealed(head, await tx.auditChain.unsealed(spaceId, refusedBefore, share));
    const last = rows.at(-1);
    if (last !== undefined) heads.set(spaceId, { seq: last.seq, hash: last.hash });
    all.push(...rows);
    more ||= rows.length === share;
  }
  if (all.length > 0) await tx.auditChain.seal(all, heads);
  return { count: all.length, more, held: locked.size };
}
