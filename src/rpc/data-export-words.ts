import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TaskRecord } from "../core/exports/task-record.ts";
import type { TaskStatus } from "../core/tasks/task.ts";
import type { EnterpriseTaskRecordSchema } from "../gen/proto/dataexport/v1/export_pb.ts";

/** Apart from the words of task.v2 (contract/enterprise.md 13, row 27). */
const sessionStatus: Readonly<Record<TaskStatus, string>> = {
  running: "SESSION_STATUS_RUNNING",
  waiting: "SESSION_STATUS_WAITING",
  stopped: "SESSION_STATUS_STOPPED",
  error: "SESSION_STATUS_ERROR",
};

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
