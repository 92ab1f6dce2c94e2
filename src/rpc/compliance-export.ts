import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ComplianceExport,
  type ExportStatus,
  type StepName,
  stepNames,
} from "../core/exports/export.ts";
import type { ComplianceExports, ComplianceInput } from "../core/exports/exports.ts";
import {
  type ComplianceExportRecordSchema,
  EventName,
  ComplianceExportStatus as Status,
} from "../gen/proto/observability/v2/compliance_export_pb.ts";
import {
  type CreateExportRequest,
  EnterpriseComplianceV2Service,
} from "../gen/proto/observability/v2/compliance_export_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { pageOf, progressOf } from "./data-export-messages.ts";

/** Exports of agents' activity for a SIEM (spec/enterprise.md 8). */
export const complianceExportHandlers = (exports: ComplianceExports) =>
  implement(EnterpriseComplianceV2Service, {
    async createExport(tx, caller, request) {
      const { id: uid, createdAt } = await exports.create(tx, caller, inputOf(request));
      return { uid, status: Status.PENDING, createdAt: timestampFromMs(createdAt) };
    },
    async getExport(tx, caller, { uid }) {
      return { record: recordMessage(await exports.get(tx, caller, uid)) };
    },
    async listExports(tx, caller, request) {
      const { items, total } = await exports.list(tx, caller, pageOf(request));
      return { records: items.map(recordMessage), total };
    },
    async cancelExport(tx, caller, { uid }) {
      return { record: recordMessage(await exports.cancel(tx, caller, uid)) };
    },
    async deleteExport(tx, caller, { uid }) {
      await exports.remove(tx, caller, uid);
      return {};
    },
    async getDownloadURL(tx, caller, { uid }) {
      const { url, expiresAt } = await exports.download(tx, caller, uid);
      return { downloadUrl: url, expiresAt: timestampFromMs(expiresAt) };
    },
  });

const nameValue: Readonly<Record<StepName, EventName>> = {
  user_chat: EventName.USER_CHAT,
  agent_reply: EventName.AGENT_REPLY,
  tool_call: EventName.TOOL_CALL,
  tool_result: EventName.TOOL_RESULT,
};

/** The input of an export; empty texts count as absent. */
const inputOf = ({
  user,
  sessionUid,
  startTime,
  endTime,
  eventNames,
  includePayload,
  reason,
}: CreateExportRequest): ComplianceInput => ({
  filter: {
    user: user || null,
    session: sessionUid || null,
    startTime: timeOf(startTime),
    endTime: timeOf(endTime),
    includePayload,
    names:
      eventNames.length === 0 ? stepNames : stepNames.filter((name) => eventNames.includes(nameValue[name])),
  },
  reason,
});

/** Stored times are whole milliseconds: both ends of a range are rounded up to the next one. */
const timeOf = (time: Timestamp | undefined): number | null =>
  time ? Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1e6) : null;

/** There is no status for a cancelled export (spec/enterprise.md 4.1): it is FAILED. */
const statusValue: Readonly<Record<ExportStatus, Status>> = {
  pending: Status.PENDING,
  processing: Status.PROCESSING,
  completed: Status.COMPLETED,
  failed: Status.FAILED,
  cancelled: Status.FAILED,
};

const recordMessage = ({
  id: uid,
  status,
  createdAt,
  ...record
}: ComplianceExport): MessageInitShape<typeof ComplianceExportRecordSchema> => {
  const { completedAt, archive } = record;
  const error = status === "cancelled" ? "the export was cancelled" : record.error;
  return {
    uid,
    status: statusValue[status],
    createdAt: timestampFromMs(createdAt),
    ...(completedAt === null ? {} : { completedAt: timestampFromMs(completedAt) }),
    ...(archive === null
      ? {}
      : { eventCount: BigInt(archive.eventCount ?? 0), fileSize: BigInt(archive.bytes) }),
    ...(error === null ? {} : { errorMessage: error }),
    ...(status === "processing" ? { progress: progressOf(record) } : {}),
  };
};
