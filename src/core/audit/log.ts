import type { Caller } from "../caller.ts";
import { type CursorBinding, decodeCursor, encodeCursor } from "../page.ts";
import type { Tx } from "../store.ts";
import type { Page, Wanted } from "../tasks/listings.ts";
import type { AuditOutcome, AuditRow } from "./chain.ts";

/** A row of the log, with its place in the chain once it has one. */
export interface LoggedRow extends AuditRow {
  readonly seq: number | null;
  readonly hash: string | null;
}

/** Which rows; all that is given applies together. Times are Unix milliseconds, the first included, the last not. */
export interface AuditFilter {
  readonly from?: number;
  readonly before?: number;
  readonly accountId?: string;
  readonly credential?: string;
  readonly operation?: string;
  readonly outcome?: AuditOutcome;
  readonly subject?: string;
  readonly requestId?: string;
}

/** Where a page begins: after this row, in the order asked for. */
export interface AuditPage {
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: { readonly at: number; readonly id: string };
}

/** The log as it is read; whether somebody may is said by the operation's access. */
export interface AuditLogRows {
  /** By (at, id). */
  list(spaceId: string, filter: AuditFilter, page: AuditPage): Promise<LoggedRow[]>;
}

/** A page of the log of the caller's space. @throws Failure `invalid` for a cursor of another list. */
export async function listAudit(tx: Tx, caller: Caller, filter: AuditFilter, { limit, order, cursor }: Wanted): Promise<Page<LoggedRow>> {
  const { accountId, spaceId } = caller;
  const binding: CursorBinding = { accountId, spaceId, operation: "audit.list", filter: { ...filter, order } };
  const after = cursor ? decodeCursor(binding, cursor) : undefined;
  const from = after ? { after: { at: after.value, id: after.id } } : {};
  const rows = await tx.auditLog.list(spaceId, filter, { order, limit: limit + 1, ...from });
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? encodeCursor(binding, { value: last.at, id: last.id }) : undefined };
}
