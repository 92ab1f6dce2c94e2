import { createHash } from "node:crypto";
import { invalidArgument } from "../failure.ts";

/** The requested page. An empty cursor means none. */
export interface PageInput {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly cursor: string | undefined;
}

/** A page of a list; `next` is the cursor of the following page, if there is one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** The list that a cursor is bound to. Any other use is refused. */
export interface CursorBinding {
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId?: string | undefined;
  readonly operation: string;
  /** Filter and order. */
  readonly filter: object;
}

/** The end of a page: the sort value and, for ties, the id. */
export interface CursorPosition {
  readonly value: number;
  readonly id: string;
}

const version = 1;
const digestLength = 12;
const headLength = 1 + digestLength + 8;

/**
 * An opaque list cursor: base64url of version, digest of binding and position, sort
 * value and id. It grants no access: the query that continues it authorizes the caller again.
 */
export function encodeCursor(binding: CursorBinding, position: CursorPosition): string {
  const { value, id } = position;
  const head = Buffer.alloc(headLength);
  head.writeUInt8(version, 0);
  digestOf(binding, position).copy(head, 1);
  head.writeDoubleBE(value, 1 + digestLength);
  return Buffer.concat([head, Buffer.from(id)]).toString("base64url");
}

/**
 * @throws Failure `invalid_argument` for a malformed cursor, or one of another list, caller, filter or order.
 */
export function decodeCursor(binding: CursorBinding, text: string, field = "cursor"): CursorPosition {
  const bytes = Buffer.from(text, "base64url");
  const isWellFormed =
    bytes.length > headLength && bytes.readUInt8(0) === version && bytes.toString("base64url") === text;
  const position = isWellFormed
    ? { value: bytes.readDoubleBE(1 + digestLength), id: bytes.subarray(headLength).toString() }
    : undefined;
  if (!position || !bytes.subarray(1, 1 + digestLength).equals(digestOf(binding, position))) {
    throw invalidArgument(field, "is not a cursor of this list");
  }
  return position;
}

/**
 * A page of the first `limit` of these rows, which are one more if others follow. `positionOf` gives a row's
 * place in the list.
 */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  binding: CursorBinding,
  positionOf: (row: T) => CursorPosition,
): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? encodeCursor(binding, positionOf(last)) : undefined };
}

/** The place of a row in a list by time of creation. */
export const byCreation = ({ createdAt, id }: { createdAt: number; id: string }): CursorPosition => ({
  value: createdAt,
  id,
});

function digestOf(
  { accountId, spaceId, clientId = "", operation, filter }: CursorBinding,
  { value, id }: CursorPosition,
): Buffer {
  const sorted = Object.entries(filter).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([accountId, spaceId, clientId, operation, sorted, value, id]);
  return createHash("sha256").update(text).digest().subarray(0, digestLength);
}

/** One page of a list and the total number of items, read in one transaction. */
export interface CountedPage<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** A page of a list by offset: `offset` items are skipped. */
export interface OffsetPage {
  readonly limit: number;
  readonly offset: number;
}
