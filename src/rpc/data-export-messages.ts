import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type DataExport,
  type ExportFilter,
  type ExportStatus,
  exportScopes,
} from "../core/exports/export.ts";
import type { ExportInput } from "../core/exports/exports.ts";
import type { ExportLink } from "../core/exports/links.ts";
import type { TaskRecord, TaskRecordFilter } from "../core/exports/task-record.ts";
import { invalidArgument } from "../core/failure.ts";
import type { OffsetPage } from "../core/pagination/page.ts";
import type { TaskStatus } from "../core/tasks/task.ts";
import {
  type EnterpriseExportRecordSchema,
  type EnterpriseTaskRecordSchema,
  ExportStatus as Status,
} from "../gen/proto/dataexport/v1/export_pb.ts";
import type { CreateExportRequest, ListTasksRequest } from "../gen/proto/dataexport/v1/export_service_pb.ts";

const units = ["B", "KB", "MB", "GB", "TB"] as const;

/** A readable size: `12.4 MB` is 13,002,342 bytes (spec/enterprise.md 4.5). */
function humanSize(bytes: number): string {
  let [rest, power] = [bytes, 0];
  // A value that would be rounded to 1024.0 becomes 1.0 of the next unit.
  for (; rest >= (power === 0 ? 1024 : 1023.95) && power < units.length - 1; power += 1) rest /= 1024;
  return `${power === 0 ? rest : rest.toFixed(1)} ${units[power]}`;
}

export const statusValue: Readonly<Record<ExportStatus, Status>> = {
  pending: Status.PENDING,
  processing: Status.PROCESSING,
  completed: Status.COMPLETED,
  failed: Status.FAILED,
  cancelled: Status.CANCELLED,
};

/** Task statuses, which differ from those of task.v2 (spec/enterprise.md 13, row 27). */
const sessionStatus: Readonly<Record<TaskStatus, string>> = {
  running: "SESSION_STATUS_RUNNING",
  waiting: "SESSION_STATUS_WAITING",
  stopped: "SESSION_STATUS_STOPPED",
  error: "SESSION_STATUS_ERROR",
};

/** The requests of both versions: their messages have the same fields; v2's paging fields may be absent. */
type Asked<T> = Omit<T, "$typeName" | "$unknown">;
export type ExportRequest = Asked<CreateExportRequest>;
export type TasksRequest = Pick<ListTasksRequest, "includeDeleted" | "startTime" | "endTime">;
export type PagingFields = { readonly [K in "page" | "pageSize"]?: number | undefined };

export const taskFilterOf = ({ startTime, endTime, includeDeleted }: TasksRequest): TaskRecordFilter => ({
  startTime: startOf(startTime),
  endTime: endOf(endTime),
  includeDeleted,
});

/** The requested page. Pages count from 1; only v2 has defaults (spec/enterprise.md 7.6). */
export const pageOf = ({ page = 1, pageSize = 10 }: PagingFields): OffsetPage => ({
  limit: pageSize,
  offset: (page - 1) * pageSize,
});

/** @throws Failure `invalid_argument` without a scope. */
export function exportInput({ userId = "", email = "", reason, ...request }: ExportRequest): ExportInput {
  // Scopes are numbered from 1 in the order of the specification.
  const scope = exportScopes[request.scope - 1];
  if (scope === undefined) throw invalidArgument("scope", "is required");
  const filter: ExportFilter = {
    ...taskFilterOf(request),
    includeFiles: request.includeFiles || scope === "tasks_with_attachments",
    sessionIds: unique(request.sessionIds),
    webdevProjectUids: unique(request.webdevProjectUids),
    projectUids: unique(request.projectUids),
  };
  return { userId, email, scope, filter, reason };
}

const unique = (ids: readonly string[]): readonly string[] => [...new Set(ids)];

/** Stored times are whole milliseconds: a finer start is rounded up, a finer end down. */
export const startOf = (time: Timestamp | undefined): number | null =>
  time ? Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1e6) : null;
export const endOf = (time: Timestamp | undefined): number | null =>
  time ? Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6) : null;

/** A task in both versions (spec/enterprise.md 4.4). Tasks are not blocked, audited or scheduled. */
export const taskMessage = (task: TaskRecord): MessageInitShape<typeof EnterpriseTaskRecordSchema> => ({
  taskUid: task.id,
  userId: task.accountId,
  title: task.title,
  status: sessionStatus[task.status],
  createdAt: timestampFromMs(task.createdAt),
  updatedAt: timestampFromMs(task.updatedAt),
  lastMessageTime: timestampFromMs(task.lastMessageAt),
  isDeleted: task.deletedAt !== null,
  ...(task.deletedAt === null ? {} : { deletedAt: timestampFromMs(task.deletedAt) }),
  isShared: task.shareVisibility !== "private",
  spaceId: task.spaceId,
  ...(task.projectId === null ? {} : { projectUid: task.projectId }),
  ...(task.scheduleId === null ? {} : { scheduledTask: true, scheduledTaskUid: task.scheduleId }),
});

/** An export in both versions (spec/enterprise.md 4.5). @param link null when there is no archive. */
export const exportMessage = (
  record: DataExport,
  link: ExportLink | null,
): MessageInitShape<typeof EnterpriseExportRecordSchema> => ({
  uid: record.id,
  userId: record.accountId,
  status: statusValue[record.status],
  createdAt: timestampFromMs(record.createdAt),
  ...(record.completedAt === null || record.status === "cancelled"
    ? {}
    : { completedAt: timestampFromMs(record.completedAt) }),
  ...(record.error === null ? {} : { errorMessage: record.error }),
  ...(record.archive === null
    ? {}
    : { fileSize: BigInt(record.archive.bytes), fileSizeHuman: humanSize(record.archive.bytes) }),
  ...(link === null ? {} : { fileUrl: link.url, urlExpiresAt: timestampFromMs(link.expiresAt) }),
  ...(record.status === "processing" ? { progress: progressOf(record) } : {}),
});

/** The progress of an export, for every kind. */
export const progressOf = ({ progress: { done, total } }: Pick<DataExport, "progress">) => ({
  done,
  total,
  percent: total === 0 ? 0 : Math.floor((done / total) * 100),
});
