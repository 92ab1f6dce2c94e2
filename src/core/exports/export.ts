import type { ExportStatus } from "./lifecycle.ts";
import type { Paged, PageOf } from "./paged.ts";
import type { SubjectRows } from "./subject.ts";
import type { TaskRecordRows } from "./task-record.ts";

/** What an export packs (contract/enterprise.md 6.2). */
export const exportScopes = ["full", "tasks", "tasks_with_attachments", "custom_session_ids", "webdev_project", "project"] as const;
export type ExportScope = (typeof exportScopes)[number];

/** Which of a person's data an export packs. */
export interface ExportFilter {
  /** Also soft-deleted tasks. */
  readonly includeDeleted: boolean;
  /** Also the bytes of files. */
  readonly includeFiles: boolean;
  /** Created at or after this, Unix milliseconds; null: from the first. */
  readonly startTime: number | null;
  /** Created at or before this, Unix milliseconds; null: to the last. */
  readonly endTime: number | null;
  /** With the scope `custom_session_ids`: these tasks, of whatever time. Ids that are not the person's stand for nothing. */
  readonly sessionIds: readonly string[];
  /** With the scope `webdev_project`; empty: all. */
  readonly webdevProjectUids: readonly string[];
  /** With the scope `project`; empty: all. */
  readonly projectUids: readonly string[];
}

/** Kinds of step of an agent's session (contract/enterprise.md 8.1). */
export const stepNames = ["user_chat", "agent_reply", "tool_call", "tool_result"] as const;
export type StepName = (typeof stepNames)[number];

/** Which steps of a team's sessions an export packs; all of these apply together. */
export interface StepFilter {
  /** An account; null: everybody. */
  readonly user: string | null;
  /** A task; null: every one. */
  readonly session: string | null;
  /** At or after this, Unix milliseconds; null: from the first. */
  readonly startTime: number | null;
  /** Before this, Unix milliseconds; null: to the last. */
  readonly endTime: number | null;
  /** Never empty. */
  readonly names: readonly StepName[];
  /** Also what was said, and what tools were given and returned. */
  readonly includePayload: boolean;
}

/** What an export of any kind is asked for with. */
interface Asked {
  readonly id: string;
  readonly spaceId: string;
  /** The account that asked. */
  readonly requestedBy: string;
  /** Empty when none was given. */
  readonly reason: string;
  /** Unix milliseconds, as all times here. */
  readonly createdAt: number;
}

/** One person's data (contract/enterprise.md 6, 7). */
export interface NewDataExport extends Asked {
  readonly kind: "data";
  /** Whose data: an account, which may be gone. */
  readonly accountId: string;
  readonly scope: ExportScope;
  readonly filter: ExportFilter;
}

/** The steps of agents in a team (contract/enterprise.md 8); a space has one at a time that has not ended. */
export interface NewComplianceExport extends Asked {
  readonly kind: "compliance";
  readonly filter: StepFilter;
}

/** What was asked for. */
export type NewExport = NewDataExport | NewComplianceExport;
export type ExportKind = NewExport["kind"];

/** How far the making of an archive is, and what came of it. */
interface Made {
  readonly status: ExportStatus;
  readonly progress: ExportProgress;
  /** Claims that did not give it back: that of the present, and those that failed or died. */
  readonly claims: number;
  /** Raised by each claim: a write with an older one does nothing. */
  readonly fence: number;
  /** Whoever makes it has it until then; null while nobody does. */
  readonly leaseUntil: number | null;
  /** Of a completed one. */
  readonly archive: ExportArchive | null;
  /** Of a failed one: for its caller to read. */
  readonly error: string | null;
  /** When it was completed, failed or cancelled. */
  readonly completedAt: number | null;
  /** When the archive's bytes were given up. */
  readonly purgedAt: number | null;
}

export type DataExport = NewDataExport & Made;
export type ComplianceExport = NewComplianceExport & Made;

/** An archive, or the making of it. */
export type Export = DataExport | ComplianceExport;
export type ExportOf<K extends ExportKind> = Extract<Export, { readonly kind: K }>;

/** Steps done, and in all; 0 of 0 until they are counted. */
export interface ExportProgress {
  readonly done: number;
  readonly total: number;
}

/** The finished ZIP. */
export interface ExportArchive {
  readonly blobId: string;
  readonly bytes: number;
  /** Lower-case hex, of the archive as it is downloaded. */
  readonly sha256: string;
  /** Steps in one of the kind `compliance`; null in all others. */
  readonly eventCount: number | null;
}

/**
 * Exports as rows. Whoever makes one holds it by a claim: `fence` says which claim, and each
 * write of the making is refused (false) once another claim, or a cancel, came after it.
 */
export interface ExportRows extends SubjectRows, TaskRecordRows {
  /**
   * A `pending` one. The job of kind `export` with its id as key is put by the same change. False, and nothing is
   * written, for a `compliance` one whose space has another that has not ended: of several at once one is written.
   */
  insert(wanted: NewExport): Promise<boolean>;
  /** An export of a kind and a space; null for one of another. */
  find<K extends ExportKind>(kind: K, spaceId: string, id: string): Promise<ExportOf<K> | null>;
  /** For whoever holds a link, or makes it; callers go by `find`. */
  byId(id: string): Promise<Export | null>;
  /** Those of a person's data, newest first. */
  list(spaceId: string, accountId: string, page: PageOf): Promise<Paged<DataExport>>;
  /**
   * Takes an export that has not ended and that nobody holds at `now`, by raising its fence; the answer has the new one.
   * Null when somebody holds it, or it has ended, or there is none.
   */
  claim(id: string, now: number, leaseUntil: number): Promise<Export | null>;
  /** Says how far it is, and holds it on until `leaseUntil`. */
  progress(id: string, fence: number, progress: ExportProgress, leaseUntil: number): Promise<boolean>;
  /** The archive is there: its blob is kept by the same change. */
  complete(id: string, fence: number, archive: ExportArchive, now: number): Promise<boolean>;
  /** @param error for callers to read: nothing of a stranger's. */
  fail(id: string, fence: number, error: string, now: number): Promise<boolean>;
  /** Gives it back, as on a drain: it stays `processing`, can be claimed at once, and this claim does not count. */
  release(id: string, fence: number): Promise<boolean>;
  /** An operator ends one that has not ended; false when it had. */
  cancel(id: string, now: number): Promise<boolean>;
  /** Ids of exports that have not ended and that nobody holds at `now`, oldest first: for whoever looks after a crash. */
  loose(now: number, max: number): Promise<readonly string[]>;
  /** Gives up the archives completed at or before `until`, at most `max`; their blobs are to be dropped in the same change. */
  purge(until: number, now: number, max: number): Promise<readonly string[]>;
}
