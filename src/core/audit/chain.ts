import { createHash } from "node:crypto";
import type { Tx } from "../store.ts";

/** A row of the log as stored. `before` and `after` are the stored texts, because the hash covers them. */
export interface AuditRow {
  readonly id: string;
  readonly at: number;
  readonly spaceId: string;
  readonly accountId: string;
  readonly credential: string;
  readonly operation: string;
  readonly requestId: string;
  readonly address: string;
  readonly subject: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly outcome: AuditOutcome;
  readonly reason: string | null;
  readonly count: number;
}

/** What a row records: a change, or refused calls. */
export const auditOutcomes = ["done", "refused"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The end of a space's chain: the sequence number and the hash of its last row. */
export interface ChainHead {
  readonly seq: number;
  /** 64 lower-case hexadecimal digits. */
  readonly hash: string;
}

/** A row with its sequence number and hash in the chain of its space. */
export interface SealedRow extends AuditRow, ChainHead {}

/**
 * Where a chain begins after retention has removed its first rows: the last removed row, and when it was
 * removed (Unix milliseconds).
 */
export interface ChainAnchor extends ChainHead {
  readonly removedAt: number;
}

/** The operation of the audit row that records a removal; its `after` has the anchor's `seq` and `hash`. */
export const removalOperation = "retention/RemoveAudit";

/** The head of a chain without rows. */
export const genesis: ChainHead = { seq: 0, hash: "0".repeat(64) };

/**
 * The hash of a row with a sequence number: SHA-256, as lower-case hexadecimal digits, over the
 * UTF-8 bytes of the previous row's hash (64 zeros for the first row), a line feed, and one JSON
 * array without blanks, as `JSON.stringify` writes it:
 *
 * `[seq, id, at, space_id, account_id, credential, operation, request_id, address, subject,
 * before, after, outcome, reason, count]`
 *
 * `seq`, `at` (Unix milliseconds) and `count` are numbers, the rest strings; an absent value is
 * null. `before` and `after` are the stored JSON texts, as strings. These are all columns
 * except the hash itself.
 */
export function rowHash(previous: string, seq: number, row: AuditRow): string {
  const {
    id,
    at,
    spaceId,
    accountId,
    credential,
    operation,
    requestId,
    address,
    subject,
    before,
    after,
    outcome,
    reason,
    count,
  } = row;
  const members = [
    seq,
    id,
    at,
    spaceId,
    accountId,
    credential,
    operation,
    requestId,
    address,
    subject,
    before,
    after,
  ];
  const text = JSON.stringify([...members, outcome, reason, count]);
  return createHash("sha256").update(`${previous}\n${text}`).digest("hex");
}

/** Appends rows to a chain, in their order. */
export function sealRows(head: ChainHead, rows: readonly AuditRow[]): SealedRow[] {
  let { seq, hash } = head;
  return rows.map((row) => {
    seq += 1;
    hash = rowHash(hash, seq, row);
    return { ...row, seq, hash };
  });
}

/** The chains of all spaces. Rows enter the log unsealed and get their sequence numbers later. */
export interface AuditChainRows {
  /**
   * Ids of spaces with rows to seal, in order, greater than `after`. Refusals are sealed only if
   * they are before `refusedBefore`: later ones are still counted (core/audit/refusals.ts).
   */
  unsealedSpaces(after: string, refusedBefore: number, max: number): Promise<string[]>;
  /**
   * Creates the missing heads of spaces and returns their number. Use a separate change: a concurrent one
   * that creates the same heads waits for it.
   */
  makeHeads(spaceIds: readonly string[]): Promise<number>;
  /**
   * Locks heads until the change ends and returns them. Spaces without a head, and heads that another change
   * holds, are skipped.
   */
  lockHeads(spaceIds: readonly string[]): Promise<ReadonlyMap<string, ChainHead>>;
  /** The rows of a space to seal, in the order of (at, id). */
  unsealed(spaceId: string, refusedBefore: number, max: number): Promise<AuditRow[]>;
  /** Writes the sequence numbers and hashes of rows, and moves the heads of their spaces. */
  seal(rows: readonly SealedRow[], heads: ReadonlyMap<string, ChainHead>): Promise<void>;
  /** Ids of spaces with a head, in order, greater than `after`. */
  spaces(after: string, max: number): Promise<string[]>;
  /** Null until a row of the space is sealed. */
  head(spaceId: string): Promise<ChainHead | null>;
  /** Sealed rows in the order of (seq, id), after the row `after`; null: from the first. */
  sealed(spaceId: string, after: Pick<SealedRow, "seq" | "id"> | null, max: number): Promise<SealedRow[]>;
  countUnsealed(spaceId: string): Promise<number>;
  /** Null for a chain that begins with its first row. */
  anchor(spaceId: string): Promise<ChainAnchor | null>;
  /** The newest row that records a removal, sealed or not; null without one. */
  lastRemoval(spaceId: string): Promise<Pick<AuditRow, "id" | "after"> | null>;
  /** Removes the sealed rows up to the anchor, and writes it. Returns their number. */
  removeUpTo(spaceId: string, anchor: ChainAnchor): Promise<number>;
}

const pageRows = 1_000;

export interface ChainFault {
  readonly seq: number;
  /** The row with this sequence number; null if there is none. */
  readonly id: string | null;
  readonly kind: "changed" | "missing" | "doubled" | "reordered" | "head" | "anchor";
  readonly text: string;
}

export interface ChainReport {
  /** The last row that retention has removed; null without a removal. */
  readonly anchor: ChainAnchor | null;
  /** The last valid row. Keep a copy elsewhere. */
  readonly head: ChainHead;
  /** The number of unsealed rows. */
  readonly unsealed: number;
  /** The first fault; null if the chain is intact. */
  readonly fault: ChainFault | null;
}

/**
 * Verifies a space's chain from its first row, or from its anchor, page by page, while sealing and removals
 * continue.
 *
 * @param kept a head that was printed earlier. The chain must still contain it, so that rows removed from its
 * end are detected.
 */
export async function verifyChain(
  tx: Pick<Tx, "auditChain">,
  spaceId: string,
  kept: ChainHead | null,
): Promise<ChainReport> {
  const anchor = await tx.auditChain.anchor(spaceId);
  const found = await verifyRows(tx, spaceId, kept, anchor);
  const fault = found.fault ?? (await anchorFault(tx, spaceId, anchor));
  // Rows were removed in the meantime, so the anchor and what was read after it are of two states.
  if (fault !== null && (await tx.auditChain.anchor(spaceId))?.seq !== anchor?.seq)
    return verifyChain(tx, spaceId, kept);
  return { anchor, head: found.head, fault, unsealed: await tx.auditChain.countUnsealed(spaceId) };
}

type Verified = Pick<ChainReport, "head" | "fault">;

async function verifyRows(
  tx: Pick<Tx, "auditChain">,
  spaceId: string,
  kept: ChainHead | null,
  anchor: ChainAnchor | null,
): Promise<Verified> {
  let [head, last]: [ChainHead, SealedRow | null] = [anchor ?? genesis, null];
  for (;;) {
    // One change writes rows and head: a head that is read before the rows is not ahead of them.
    const end = (await tx.auditChain.head(spaceId)) ?? genesis;
    const rows = await tx.auditChain.sealed(spaceId, last, pageRows);
    if (rows.length === 0) return { head, fault: headFault(head, end) ?? keptFault(head, kept) };
    for (const [i, row] of rows.entries()) {
      const fault = rowFault(head, row, rows.slice(i + 1)) ?? passedFault(row, kept);
      if (fault !== null) return { head, fault };
      [head, last] = [row, row];
    }
  }
}

/**
 * The newest removal must be recorded: an anchor without its row, or a row with another anchor, shows that
 * rows were removed by hand.
 */
async function anchorFault(
  tx: Pick<Tx, "auditChain">,
  spaceId: string,
  anchor: ChainAnchor | null,
): Promise<ChainFault | null> {
  const removal = await tx.auditChain.lastRemoval(spaceId);
  const recorded = anchorText(removal?.after ?? null);
  if (recorded === (anchor && `${anchor.seq}:${anchor.hash}`)) return null;
  const seq = (anchor?.seq ?? 0) + 1;
  const text =
    recorded === null
      ? "no row records the removal of the rows before"
      : `the last recorded removal ends at ${recorded}`;
  return { seq, id: removal?.id ?? null, kind: "anchor", text };
}

function anchorText(after: string | null): string | null {
  if (after === null) return null;
  const { seq, hash } = JSON.parse(after) as Partial<ChainHead>; // Sealed, or written by retention.
  return `${seq}:${hash}`;
}

function rowFault(before: ChainHead, row: SealedRow, next: readonly SealedRow[]): ChainFault | null {
  const seq = before.seq + 1;
  const at = { seq: row.seq, id: row.id };
  if (row.seq > seq)
    return { seq, id: null, kind: "missing", text: `rows ${seq} to ${row.seq - 1} are missing` };
  if (row.seq < seq) return { ...at, kind: "doubled", text: "a second row has this sequence number" };
  if (rowHash(before.hash, seq, row) === row.hash) return null;
  // Find the row that belongs here. Its hash moved with it or stayed.
  const original = next.find((other) => [row.hash, other.hash].includes(rowHash(before.hash, seq, other)));
  if (original === undefined)
    return {
      ...at,
      kind: "changed",
      text: "the row was changed, or replaced by another row, after it was sealed",
    };
  return {
    ...at,
    kind: "reordered",
    text: `the row that was sealed here, ${original.id}, is now at ${original.seq}`,
  };
}

/** Compares the head with the last row, when all rows are valid. */
function headFault(last: ChainHead, head: ChainHead): ChainFault | null {
  if (head.seq > last.seq) return missingAtEnd(last, head);
  if (head.seq < last.seq)
    return { seq: last.seq, id: null, kind: "head", text: `the head is behind, at ${head.seq}` };
  return head.hash === last.hash
    ? null
    : { seq: head.seq, id: null, kind: "head", text: "the head has another hash than the last row" };
}

const missingAtEnd = ({ seq }: ChainHead, to: ChainHead): ChainFault => ({
  seq: seq + 1,
  id: null,
  kind: "missing",
  text: `rows ${seq + 1} to ${to.seq} are missing at the end`,
});

const keptFault = (last: ChainHead, kept: ChainHead | null): ChainFault | null =>
  kept !== null && kept.seq > last.seq ? missingAtEnd(last, kept) : null;

const passedFault = ({ seq, id, hash }: SealedRow, kept: ChainHead | null): ChainFault | null =>
  kept !== null && kept.seq === seq && kept.hash !== hash
    ? { seq, id, kind: "changed", text: "the chain was rewritten: the kept head has another hash" }
    : null;
