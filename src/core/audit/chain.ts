import { createHash } from "node:crypto";

/** A row of the log as it is kept. `before` and `after` are the texts that stand there, so that a hash is over those. */
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

/** What a row tells of: a change that was made, or calls that were refused. */
export const auditOutcomes = ["done", "refused"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The end of a space's chain: the place of its last row, and that row's hash. */
export interface ChainHead {
  readonly seq: number;
  /** 64 lower-case hexadecimal digits. */
  readonly hash: string;
}

/** A row with its place in its space's chain. */
export interface SealedRow extends AuditRow, ChainHead {}

/** Where a chain begins, before its first row. */
export const genesis: ChainHead = { seq: 0, hash: "0".repeat(64) };

/**
 * The hash of a row at a place: SHA-256, as lower-case hexadecimal digits, over the UTF-8 bytes
 * of the hash before it (of the first row, 64 zeros), a line feed, and one JSON array without
 * blanks, as `JSON.stringify` writes it:
 *
 * `[seq, id, at, space_id, account_id, credential, operation, request_id, address, subject,
 * before, after, outcome, reason, count]`
 *
 * `seq`, `at` (Unix milliseconds) and `count` are numbers, the rest strings; what is absent is
 * null. `before` and `after` are the JSON texts that are kept, as strings. That is every column
 * but the hash itself.
 */
export function rowHash(previous: string, seq: number, row: AuditRow): string {
  const { id, at, spaceId, accountId, credential, operation, requestId, address, subject, before, after, outcome, reason, count } = row;
  const members = [seq, id, at, spaceId, accountId, credential, operation, requestId, address, subject, before, after];
  const text = JSON.stringify([...members, outcome, reason, count]);
  return createHash("sha256").update(`${previous}\n${text}`).digest("hex");
}

/** Puts rows behind a head, in their order. */
export function sealed(head: ChainHead, rows: readonly AuditRow[]): SealedRow[] {
  let { seq, hash } = head;
  return rows.map((row) => {
    seq += 1;
    hash = rowHash(hash, seq, row);
    return { ...row, seq, hash };
  });
}

/** The chains of all spaces. Rows enter the log unsealed, and get their places later. */
export interface AuditChainRows {
  /**
   * Spaces that have rows to be sealed, in order, from beyond `after`. Of refusals only those
   * before `refusedBefore` are: others are still counted (core/audit/refusals.ts).
   */
  unsealedSpaces(after: string, refusedBefore: number, max: number): Promise<string[]>;
  /** Makes the heads of spaces that have none yet; answers how many. In a change of its own: another that makes the same waits for it. */
  makeHeads(spaceIds: readonly string[]): Promise<number>;
  /** The heads of those spaces that have one which nobody else holds at this moment, locked until the change ends. */
  lockHeads(spaceIds: readonly string[]): Promise<ReadonlyMap<string, ChainHead>>;
  /** A space's rows to be sealed, in the order of (at, id). */
  unsealed(spaceId: string, refusedBefore: number, max: number): Promise<AuditRow[]>;
  /** Gives rows their places, and moves the heads of their spaces. */
  seal(rows: readonly SealedRow[], heads: ReadonlyMap<string, ChainHead>): Promise<void>;
  /** Spaces that have a head, in order, from beyond `after`. */
  spaces(after: string, max: number): Promise<string[]>;
  /** Null while nothing of the space was ever sealed. */
  head(spaceId: string): Promise<ChainHead | null>;
  /** Sealed rows in the order of (seq, id), from beyond one; null: from the first. */
  sealed(spaceId: string, after: Pick<SealedRow, "seq" | "id"> | null, max: number): Promise<SealedRow[]>;
  countUnsealed(spaceId: string): Promise<number>;
}
