import type { CreationContext } from "../keys/api-key.ts";
import type { Recipient } from "../keys/recipient.ts";
import type { Tx } from "../store.ts";

/** Writes the audit row of a change by an operator's command. It has no caller, request or address. */
export async function auditCommand(
  tx: Tx,
  { now, ids }: CreationContext,
  { accountId, spaceId }: Recipient,
  operation: string,
): Promise<void> {
  const { subject = null, before = null, after = null } = tx.audit.notes();
  const requestId = ids.request();
  await tx.audit.insert({
    id: ids.short(),
    at: now,
    spaceId,
    accountId,
    credential: "command",
    operation,
    requestId,
    address: "",
    subject,
    before,
    after,
  });
}

/** A row of a space's audit log: who did what, from where. */
export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly spaceId: string;
  readonly accountId: string;
  /** Kind and id of the credential, for instance `key:2xq…`. */
  readonly credential: string;
  /** The operation's RPC, for instance `task.v2.TaskService/DeleteTask`. */
  readonly operation: string;
  readonly requestId: string;
  readonly address: string;
  /** The id of the changed object; null if the change has no single object. */
  readonly subject: string | null;
  /** Never secrets, message text or file content (spec/decisions.md 44). */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** The part of an audit row that a handler provides; the call path adds the rest. */
export interface AuditNote extends Partial<Pick<AuditEntry, "subject" | "before" | "after">> {
  /** A second row, in the log of another space that the change concerns. */
  readonly alsoIn?: Pick<AuditEntry, "spaceId" | "before" | "after">;
}

/**
 * Why a call was refused, as in stored rows and exports. These values are older than those of `Reason` and
 * never change.
 */
export type AuditReason = "unauthenticated" | "forbidden" | "insufficient_scope" | "limited";

/** The refused calls of one credential to one operation in one minute, as one process counted them. */
export interface AuditRefusal extends Omit<AuditEntry, "subject" | "before" | "after"> {
  /** The reason of the first refusal. */
  readonly reason: AuditReason;
  readonly count: number;
}

export interface AuditRows {
  /** Adds to the row that the call path writes at the end of the change. */
  note(note: AuditNote): void;
  /** Returns the notes of this change so far. */
  notes(): AuditNote;
  insert(entry: AuditEntry): Promise<void>;
  /**
   * Writes refusals, or adds their counts to rows with the same id. Returns the ids of rows that are already
   * sealed; these do not change.
   */
  addRefusals(refusals: readonly AuditRefusal[]): Promise<readonly string[]>;
}
