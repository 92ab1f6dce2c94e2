import { createHash } from "node:crypto";
import { invalid } from "./failure.ts";

/** What a cursor was made for, and is refused for anything else. */
export interface CursorBinding {
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId?: string | undefined;
  readonly operation: string;
  /** Filter and order. */
  readonly filter: object;
}

/** Where a page ended: the sort value and, for ties, the id. */
export interface CursorPosition {
  readonly value: number;
  readonly id: string;
}

const version = 1;
const digestLength = 12;
const headLength = 1 + digestLength + 8;

/**
 * An opaque list cursor: base64url of version, digest of binding and position, sort
 * value and id. It grants nothing: the query it continues takes the caller again.
 */
export function encodeCursor(binding: CursorBinding, position: CursorPosition): string {
  const { value, id } = position;
  const head = Buffer.alloc(headLength);
  head.writeUInt8(version, 0);
  digestOf(binding, position).copy(head, 1);
  head.writeDoubleBE(value, 1 + digestLength);
  return Buffer.concat([head, Buffer.from(id)]).toString("base64url");
}

/** @throws Failure `invalid` for a mangled cursor, or one of another list, caller, filter or order. */
export function decodeCursor(binding: CursorBinding, text: string): CursorPosition {
  const bytes = Buffer.from(text, "base64url");
  const sound = bytes.length > headLength && bytes.readUInt8(0) === version && bytes.toString("base64url") === text;
  const position = sound ? { value: bytes.readDoubleBE(1 + digestLength), id: bytes.subarray(headLength).toString() } : undefined;
  if (!position || !bytes.subarray(1, 1 + digestLength).equals(digestOf(binding, position))) {
    throw invalid("cursor", "is not a cursor of this list");
  }
  return position;
}

function digestOf({ accountId, spaceId, clientId = "", operation, filter }: CursorBinding, { value, id }: CursorPosition): Buffer {
  const sorted = Object.entries(filter).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([accountId, spaceId, clientId, operation, sorted, value, id]);
  return createHash("sha256").update(text).digest().subarray(0, digestLength);
}
