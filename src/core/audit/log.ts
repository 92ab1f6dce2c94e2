import type { Caller } from "../accounts/caller.ts";
import { type CursorBinding, decodeCursor, type Page, type PageInput, pageOf } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import type { AuditOutcome, AuditRow } from "./chain.ts";

/** A row of the log; `seq` and `hash` are null until it is sealed. */
export interface LoggedRow extends AuditRow {
  readonly seq: number | null;
  readonly hash: string | null;
}

/**
 * A filter of rows. All present members apply. Times are Unix milliseconds; `from` is inclusive, `before` is
 * exclusive.
 */
export interface AuditFilter {
  readonly from?: number;
  readonly before?: number;
  readonly accountId?: string;
  readonly credential?: string;
  readonly operation?: string;
  /** The beginning of the operation; ASCII. */
  readonly operationPrefix?: string;
  readonly outcome?: AuditOutcome;
  readonly subject?: string;
  readonly requestId?: string;
}

/** Begins after this row, in this order. */
export interface AuditPage {
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: { at: number; id: string };
}

/** Reads the log. The operation's access rules decide who may read it. */
export interface AuditLogRows {
  /** By (at, id). */
  list(spaceId: string, filter: AuditFilter, page: AuditPage): Promise<LoggedRow[]>;
  /**
   * Present names of a space's accounts, keys, apps and projects by id; deleted projects and apps have none.
   */
  names(spaceId: string, ids: readonly string[]): Promise<readonly AuditName[]>;
}

/** The present name of something that rows mention. */
export interface AuditName {
  readonly kind: "account" | "key" | "app" | "project";
  readonly id: string;
  readonly name: string;
}

/**
 * The present names of what rows mention. They are not part of the rows: names change, and rows and their
 * hashes do not.
 */
export async function listAuditNames(
  tx: Pick<Tx, "auditLog">,
  { spaceId }: Pick<Caller, "spaceId">,
  rows: readonly LoggedRow[],
) {
  const ids = new Set(
    rows.flatMap(({ accountId, credential, subject }) => [
      accountId,
      credential.replace(/^key:/, ""),
      subject ?? "",
    ]),
  );
  ids.delete("");
  return ids.size === 0 ? [] : tx.auditLog.names(spaceId, [...ids]);
}

/**
 * A page of the log of the caller's space. @throws Failure `invalid_argument` for a cursor of another list.
 */
export async function listAudit(
  tx: Tx,
  caller: Caller,
  filter: AuditFilter,
  { limit, order, cursor }: PageInput,
): Promise<Page<LoggedRow>> {
  const { accountId, spaceId } = caller;
  const binding: CursorBinding = {
    accountId,
    spaceId,
    operation: "audit.list",
    filter: { ...filter, order },
  };
  const after = cursor ? decodeCursor(binding, cursor) : undefined;
  const from = after ? { after: { at: after.value, id: after.id } } : {};
  const rows = await tx.auditLog.list(spaceId, filter, { order, limit: limit + 1, ...from });
  return pageOf(rows, limit, binding, ({ at, id }) => ({ value: at, id }));
}
