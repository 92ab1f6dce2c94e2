import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Handlers } from "../call/handlers.ts";
import type { ComplianceExports, WantedCompliance } from "../core/exports/compliance.ts";
import { type ComplianceExport, type StepName, stepNames } from "../core/exports/export.ts";
import type { ExportStatus } from "../core/exports/lifecycle.ts";
import {
  type ComplianceExportRecordSchema,
  EventName,
  ComplianceExportStatus as Status,
} from "../gen/proto/observability/v2/compliance_export_pb.ts";
import type { CreateExportRequest, EnterpriseComplianceV2Service } from "../gen/proto/observability/v2/compliance_export_service_pb.ts";

/** Exports of what agents did, for a SIEM (contract/enterprise.md 8). */
export const complianceExportHandlers = (exports: ComplianceExports): Handlers<typeof EnterpriseComplianceV2Service> => ({
  async createExport(tx, caller, request) {
    const { id: uid, createdAt } = await exports.create(tx, caller, wantedOf(request));
    return { uid, status: Status.PENDING, createdAt: timestampFromMs(createdAt) };
  },
  async getExport(tx, caller, { uid }) {
    return { record: recordMessage(await exports.get(tx, caller, uid)) };
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

/** Empty texts are none. */
const wantedOf = ({ user, sessionUid, startTime, endTime, eventNames, includePayload, reason }: CreateExportRequest): WantedCompliance => ({
  filter: {
    ...{ user: user || null, session: sessionUid || null, startTime: timeOf(startTime), endTime: timeOf(endTime), includePayload },
    names: eventNames.length === 0 ? stepNames : stepNames.filter((name) => eventNames.includes(nameValue[name])),
  },
  reason,
});

/** Our times are whole milliseconds: those at or after a finer one begin with the next, and those before it end there. */
const timeOf = (time: Timestamp | undefined): number | null => (time ? Number(time.seconds) * 1000 + Math.ceil(time.nanos / 1e6) : null);

/** There is no word for what an operator ended (contract/enterprise.md 4.1): it has failed. */
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
  ...found
}: ComplianceExport): MessageInitShape<typeof ComplianceExportRecordSchema> => {
  const { completedAt, archive } = found;
  const error = status === "cancelled" ? "the operator ended it" : found.error;
  return {
    ...{ uid, status: statusValue[status], createdAt: timestampFromMs(createdAt) },
    ...(completedAt === null ? {} : { completedAt: timestampFromMs(completedAt) }),
    ...(archive === null ? {} : { eventCount: BigInt(archive.eventCount ?? 0), fileSize: BigInt(archive.bytes) }),
    ...(error === null ? {} : { errorMessage: error }),
  };
};
