import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type DataExport, type ExportFilter, exportScopes } from "../core/exports/export.ts";
import type { WantedExport } from "../core/exports/exports.ts";
import type { ExportStatus } from "../core/exports/lifecycle.ts";
import type { ExportLink } from "../core/exports/links.ts";
import type { PageOf } from "../core/exports/paged.ts";
import { humanSize } from "../core/exports/size.ts";
import type { TaskRecord, TaskRecordFilter } from "../core/exports/task-record.ts";
import { invalid } from "../core/failure.ts";
import type { TaskStatus } from "../core/tasks/task.ts";
import {
  type EnterpriseExportRecordSchema,
  type EnterpriseTaskRecordSchema,
  ExportStatus as Status,
} from "../gen/proto/dataexport/v1/export_pb.ts";
import type { CreateExportRequest, ListTasksRequest } from "../gen/proto/dataexport/v1/export_service_pb.ts";

/** An export's status as both versions write it. */
export const statusValue: Readonly<Record<ExportStatus, Status>> = {
  pending: Status.PENDING,
  processing: Status.PROCESSING,
  completed: Status.COMPLETED,
  failed: Status.FAILED,
  cancelled: Status.CANCELLED,
};

/** Apart from the words of task.v2 (contract/enterprise.md 13, row 27). */
const sessionStatus: Readonly<Record<TaskStatus, string>> = {
  running: "SESSION_STATUS_RUNNING",
  waiting: "SESSION_STATUS_WAITING",
  stopped: "SESSION_STATUS_STOPPED",
  error: "SESSION_STATUS_ERROR",
};

/** What both versions ask alike: their messages have the same fields, of which those of v2's paging may be absent. */
type Asked<T> = Omit<T, "$typeName" | "$unknown">;
export type AskedExport = Asked<CreateExportRequest>;
export type AskedTasks = Pick<ListTasksRequest, "includeDeleted" | "startTime" | "endTime">;
export type AskedPage = { readonly [K in "page" | "pageSize"]?: number | undefined };

export const taskFilterOf = ({ startTime, endTime, includeDeleted }: AskedTasks): TaskRecordFilter => ({
  startTime: startOf(startTime),
  endTime: endOf(endTime),
  includeDeleted,
});

/** Pages count from 1; v2 alone has defaults (contract/enterprise.md 7.6). */
export const pageOf = ({ page = 1, pageSize = 10 }: AskedPage): PageOf => ({
  limit: pageSize,
  offset: (page - 1) * pageSize,
});

/** @throws Failure `invalid` without a scope. */
export function wantedOf({ userId = "", email = "", reason, ...asked }: AskedExport): WantedExport {
  // Scopes are numbered from 1 in the contract's order.
  const scope = exportScopes[asked.scope - 1];
  if (scope === undefined) throw invalid("scope", "is required");
  const filter: ExportFilter = {
    ...taskFilterOf(asked),
    includeFiles: asked.includeFiles || scope === "tasks_with_attachments",
    sessionIds: unique(asked.sessionIds),
    webdevProjectUids: unique(asked.webdevProjectUids),
    projectUids: unique(asked.projectUids),
  };
  return { userId, email, scope, filter, reason };
}

const unique = (ids: readonly string[]): readonly string[] => [...new Set(ids)];

/** Our times are whole milliseconds: those at or after a finer one begin with the next. */
export const startOf = (time: Timestamp | undefined): number | null =>
  time ? Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1e6) : null;
export const endOf = (time: Timestamp | undefined): number | null =>
  time ? Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6) : null;

/** A task as both versions show it (contract/enterprise.md 4.4). Nothing blocks, audits or schedules tasks yet. */
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
});

/** An export as both versions show it (contract/enterprise.md 4.5). @param link null when there is no archive. */
export const exportMessage = (found: DataExport, link: ExportLink | null): MessageInitShape<typeof EnterpriseExportRecordSchema> => ({
  uid: found.id,
  userId: found.accountId,
  status: statusValue[found.status],
  createdAt: timestampFromMs(found.createdAt),
  ...(found.completedAt === null || found.status === "cancelled" ? {} : { completedAt: timestampFromMs(found.completedAt) }),
  ...(found.error === null ? {} : { errorMessage: found.error }),
  ...(found.archive === null ? {} : { fileSize: BigInt(found.archive.bytes), fileSizeHuman: humanSize(found.archive.bytes) }),
  ...(link === null ? {} : { fileUrl: link.url, urlExpiresAt: timestampFromMs(link.expiresAt) }),
  ...(found.status === "processing" ? { progress: progressOf(found) } : {}),
});

const progressOf = ({ progress: { done, total } }: DataExport) => ({
  done,
  total,
  percent: total === 0 ? 0 : Math.floor((done / total) * 100),
});
