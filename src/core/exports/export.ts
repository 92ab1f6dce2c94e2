import type { CountedPage, OffsetPage } from "../pagination/page.ts";
import { dayMs, purgingInBatches } from "../processes/timed-job.ts";
import type { TaskRecordRows } from "./task-record.ts";

/** The states of an export (spec/enterprise.md 6.6). */
export const exportStatuses = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type ExportStatus = (typeof exportStatuses)[number];

/**
 * The life cycle of an export (spec/enterprise.md 6.6):
 *
 *      pending ──claim──▶ processing ──complete──▶ completed ──30 days──▶ purged (still `completed`)
 *         │               │  ▲ │ └────fail──────▶ failed
 *         └────cancel─────┤  └─┘ claim, after a release or an expired lease
 *                         └─────cancel──────────▶ cancelled
 *
 * No transition goes back: a released export stays `processing`, without a lease. An export that has ended
 * can be deleted.
 */
export const exportTransitions = {
  claim: { from: ["pending", "processing"], to: "processing" },
  complete: { from: ["processing"], to: "completed" },
  fail: { from: ["processing"], to: "failed" },
  cancel: { from: ["pending", "processing"], to: "cancelled" },
} as const satisfies Record<string, ExportTransition>;

/** A transition between the states of an export. */
export interface ExportTransition {
  readonly from: readonly ExportStatus[];
  readonly to: ExportStatus;
}

/** How long an archive is kept after its completion, in milliseconds (spec/enterprise.md 6.5). */
export const archiveMs = 30 * dayMs;

/** Whether an archive is purged or is due to be: its time counts, even if the sweep is late. */
export const isPurged = (of: { completedAt: number | null; purgedAt: number | null }, now: number): boolean =>
  of.purgedAt !== null || (of.completedAt !== null && of.completedAt + archiveMs <= now);

/** The person whose data is exported: a present or past member of a team (spec/enterprise.md 6). */
export interface Subject {
  /** The account, which may be deleted. */
  readonly accountId: string;
  readonly teamId: string;
}

/** By account id or by email address, case-insensitive. */
export type SubjectRef =
  | { readonly accountId: string }
  | { readonly email: string }
  | { readonly either: string };

export interface SubjectRows {
  subject(spaceId: string, ref: SubjectRef): Promise<Subject | null>;
}

/** What an export contains (spec/enterprise.md 6.2). */
export const exportScopes = [
  "full",
  "tasks",
  "tasks_with_attachments",
  "custom_session_ids",
  "webdev_project",
  "project",
] as const;
export type ExportScope = (typeof exportScopes)[number];

/** The data of a person that an export contains. */
export interface ExportFilter {
  /** Also soft-deleted tasks. */
  readonly includeDeleted: boolean;
  /** Also the bytes of files. */
  readonly includeFiles: boolean;
  /** Created at or after this, Unix milliseconds; null: from the first. */
  readonly startTime: number | null;
  /** Created at or before this, Unix milliseconds; null: to the last. */
  readonly endTime: number | null;
  /**
   * With the scope `custom_session_ids`: these tasks, regardless of their time. Ids of other persons' tasks
   * are ignored.
   */
  readonly sessionIds: readonly string[];
  /** With the scope `webdev_project`; empty: all. */
  readonly webdevProjectUids: readonly string[];
  /** With the scope `project`; empty: all. */
  readonly projectUids: readonly string[];
}

/** The kinds of steps in an agent's session (spec/enterprise.md 8.1). */
export const stepNames = ["user_chat", "agent_reply", "tool_call", "tool_result"] as const;
export type StepName = (typeof stepNames)[number];

/** The steps of a team's sessions that an export contains; all members apply. */
export interface StepFilter {
  /** An account; null: all accounts. */
  readonly user: string | null;
  /** A task; null: all tasks. */
  readonly session: string | null;
  /** At or after this, Unix milliseconds; null: from the first. */
  readonly startTime: number | null;
  /** Before this, Unix milliseconds; null: to the last. */
  readonly endTime: number | null;
  /** Never empty. */
  readonly names: readonly StepName[];
  /** Also the texts of messages, and the inputs and results of tools. */
  readonly includePayload: boolean;
}

interface ExportRequest {
  readonly id: string;
  readonly spaceId: string;
  readonly requestedBy: string;
  /** Empty without a reason. */
  readonly reason: string;
  /** Unix milliseconds, as all times here. */
  readonly createdAt: number;
}

/** One person's data (spec/enterprise.md 6, 7). */
export interface NewDataExport extends ExportRequest {
  readonly kind: "data";
  /** The account whose data is exported; it may be deleted. */
  readonly accountId: string;
  readonly scope: ExportScope;
  readonly filter: ExportFilter;
}

/** The steps of agents in a team (spec/enterprise.md 8); a space has at most one that has not ended. */
export interface NewComplianceExport extends ExportRequest {
  readonly kind: "compliance";
  readonly filter: StepFilter;
}

export type NewExport = NewDataExport | NewComplianceExport;
export type ExportKind = NewExport["kind"];

/** The state of the work on an archive, and its result. */
interface ExportState {
  readonly status: ExportStatus;
  readonly progress: ExportProgress;
  /** Claims without a release: the present one, and those that failed or died. */
  readonly claims: number;
  /** Raised by each claim: a write with an older one does nothing. */
  readonly fence: number;
  /** The claim is valid until then; null without a claim. */
  readonly leaseUntil: number | null;
  readonly archive: ExportArchive | null;
  /** The error of a failed export, as a text for callers. */
  readonly error: string | null;
  /** When it was completed, failed or cancelled. */
  readonly completedAt: number | null;
  /** When the archive was purged. */
  readonly purgedAt: number | null;
}

export type DataExport = NewDataExport & ExportState;
export type ComplianceExport = NewComplianceExport & ExportState;

/** An export: its request and its state. */
export type Export = DataExport | ComplianceExport;
export type ExportOf<K extends ExportKind> = Extract<Export, { readonly kind: K }>;

/** Units of work, done and in total; 0 of 0 until they are counted. */
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
  /** The number of steps in a `compliance` export; null in others. */
  readonly eventCount: number | null;
}

/**
 * The rows of exports. The process that creates an archive has a claim on its export. `fence`
 * identifies the claim: its writes are refused (false) after a later claim or a cancel.
 */
export interface ExportRows extends SubjectRows, TaskRecordRows {
  /**
   * Inserts a `pending` export. The same change puts the job of kind `export` with its id as key. Returns
   * false and writes nothing for a `compliance` export if its space has another that has not ended; of
   * concurrent ones one is written.
   */
  insert(newExport: NewExport): Promise<boolean>;
  /** An export of a kind and a space; null for another kind or space. */
  find<K extends ExportKind>(kind: K, spaceId: string, id: string): Promise<ExportOf<K> | null>;
  /** An export of any kind and space: for links and for the job. API calls use `find`. */
  byId(id: string): Promise<Export | null>;
  /** The exports of a person's data, newest first. */
  list(spaceId: string, accountId: string, page: OffsetPage): Promise<CountedPage<DataExport>>;
  /**
   * Claims an export that has not ended and has no valid lease at `now`. It raises the fence and returns the
   * export with the new one. Null if the export is claimed, has ended or does not exist.
   */
  claim(id: string, now: number, leaseUntil: number): Promise<Export | null>;
  /** Writes the progress and extends the lease to `leaseUntil`. */
  progress(id: string, fence: number, progress: ExportProgress, leaseUntil: number): Promise<boolean>;
  /** Completes the export; the same change keeps the archive's blob. */
  complete(id: string, fence: number, archive: ExportArchive, now: number): Promise<boolean>;
  /** @param error a text for callers, without any external text. */
  fail(id: string, fence: number, error: string, now: number): Promise<boolean>;
  /**
   * Releases the claim, for example on a drain: the export stays `processing`, can be claimed at once, and
   * this claim does not count.
   */
  release(id: string, fence: number): Promise<boolean>;
  /** The compliance exports of a space, newest first. */
  listCompliance(spaceId: string, page: OffsetPage): Promise<CountedPage<ComplianceExport>>;
  /** False if it has ended. */
  cancel(id: string, now: number): Promise<boolean>;
  /**
   * Deletes an export that has ended. Returns its blobs, which the same change must drop; null if it has not
   * ended or does not exist.
   */
  remove(id: string): Promise<readonly string[] | null>;
  /**
   * Ids of exports that have not ended and have no valid lease at `now`, oldest first: for recovery after a
   * crash.
   */
  unclaimed(now: number, max: number): Promise<readonly string[]>;
  /**
   * Marks archives completed at or before `until` as purged, at most `max`. Returns their blobs, which the
   * same change must drop.
   */
  purge(until: number, now: number, max: number): Promise<readonly string[]>;
  /** All archives with bytes: `bytes` is their size before encryption. */
  listArchives(): Promise<readonly { exportId: string; blobId: string; bytes: number }[]>;
}

/** Deletes archives 30 days after they were made. */
export const purgeArchives = purgingInBatches("purge-archives", 100, async (tx, now, max) => {
  const purged = await tx.exports.purge(now - archiveMs, now, max);
  await tx.blobs.drop(purged);
  return purged.length;
});
