import type { Reason } from "../failure.ts";

/** One line of a space's audit log: who did what, from where. */
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
  /** The id of what was changed, where one thing was. */
  readonly subject: string | null;
  /** Never secrets, message text or file content (contract/decisions.md 44). */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** What a handler knows of its own change; the call path knows the rest. */
export type AuditNote = Partial<Pick<AuditEntry, "subject" | "before" | "after">>;

/** Calls of one credential to one operation that were refused in one minute, as one process counted them. */
export interface AuditRefusal extends Omit<AuditEntry, "subject" | "before" | "after"> {
  /** The failure's, of the first one. */
  readonly reason: Reason;
  readonly count: number;
}

export interface AuditRows {
  /** Adds to the row that the call path writes at the end of the change. */
  note(note: AuditNote): void;
  /** What was noted in this change so far. */
  noted(): AuditNote;
  insert(entry: AuditEntry): Promise<void>;
  /** Writes refusals, or adds their counts to rows of the same id; answers the ids of those that are sealed already, which stay as they are. */
  refuse(refusals: readonly AuditRefusal[]): Promise<readonly string[]>;
}
