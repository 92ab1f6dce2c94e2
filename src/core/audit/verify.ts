import type { Tx } from "../store.ts";
import { type ChainHead, genesis, rowHash, type SealedRow } from "./chain.ts";

/** Rows that are read at once. */
const pageRows = 1_000;

/** What is wrong at a place of a chain. */
export interface ChainFault {
  readonly seq: number;
  /** The row that stands there; null where none does. */
  readonly id: string | null;
  readonly kind: "changed" | "missing" | "doubled" | "reordered" | "head";
  /** For people. */
  readonly text: string;
}

/** What a look at a chain came to. */
export interface ChainReport {
  /** The last row that is sound: worth keeping elsewhere. */
  readonly head: ChainHead;
  /** Rows that are not sealed yet. */
  readonly unsealed: number;
  /** The first that is wrong; null when the chain is whole. */
  readonly fault: ChainFault | null;
}

/**
 * Walks a space's chain from its first row, page by page, beside whoever goes on sealing.
 *
 * @param kept a head that was printed before: the chain must still go through it, so that rows
 * which were cut off at its end are missed.
 */
export async function verifyChain(tx: Pick<Tx, "auditChain">, spaceId: string, kept: ChainHead | null): Promise<ChainReport> {
  const report = async (head: ChainHead, fault: ChainFault | null) => ({
    head,
    fault,
    unsealed: await tx.auditChain.countUnsealed(spaceId),
  });
  let [head, last]: [ChainHead, SealedRow | null] = [genesis, null];
  for (;;) {
    // Rows and head are moved by one change: a head that is read before them is not ahead of them.
    const end = (await tx.auditChain.head(spaceId)) ?? genesis;
    const rows = await tx.auditChain.sealed(spaceId, last, pageRows);
    if (rows.length === 0) return report(head, headFault(head, end) ?? keptFault(head, kept));
    for (const [i, row] of rows.entries()) {
      const fault = rowFault(head, row, rows.slice(i + 1)) ?? passedFault(row, kept);
      if (fault !== null) return report(head, fault);
      [head, last] = [row, row];
    }
  }
}

function rowFault(before: ChainHead, row: SealedRow, next: readonly SealedRow[]): ChainFault | null {
  const seq = before.seq + 1;
  const at = { seq: row.seq, id: row.id };
  if (row.seq > seq) return { seq, id: null, kind: "missing", text: `rows ${seq} to ${row.seq - 1} are missing` };
  if (row.seq < seq) return { ...at, kind: "doubled", text: "a second row stands at this place" };
  if (rowHash(before.hash, seq, row) === row.hash) return null;
  // Whichever row belongs here, its hash went with it or stayed.
  const right = next.find((other) => [row.hash, other.hash].includes(rowHash(before.hash, seq, other)));
  if (right === undefined) return { ...at, kind: "changed", text: "the row was changed, or is another than was sealed" };
  return { ...at, kind: "reordered", text: `the row that was sealed here, ${right.id}, stands at ${right.seq}` };
}

/** What is told about the end of the chain, when its rows are sound. */
function headFault(found: ChainHead, head: ChainHead): ChainFault | null {
  if (head.seq > found.seq) return cutOff(found, head);
  if (head.seq < found.seq) return { seq: found.seq, id: null, kind: "head", text: `the head is behind, at ${head.seq}` };
  return head.hash === found.hash ? null : { seq: head.seq, id: null, kind: "head", text: "the head has another hash than the last row" };
}

const cutOff = ({ seq }: ChainHead, to: ChainHead): ChainFault => ({
  seq: seq + 1,
  id: null,
  kind: "missing",
  text: `rows ${seq + 1} to ${to.seq} are missing at the end`,
});

const keptFault = (found: ChainHead, kept: ChainHead | null): ChainFault | null =>
  kept !== null && kept.seq > found.seq ? cutOff(found, kept) : null;

const passedFault = ({ seq, id, hash }: SealedRow, kept: ChainHead | null): ChainFault | null =>
  kept !== null && kept.seq === seq && kept.hash !== hash
    ? { seq, id, kind: "changed", text: "the chain was written anew: the head that was kept has another hash" }
    : null;
