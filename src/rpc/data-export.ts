import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Caller } from "../core/accounts/caller.ts";
import type { Exports } from "../core/exports/exports.ts";
import type { Tx } from "../core/store.ts";
import { EnterpriseDataExportService } from "../gen/proto/dataexport/v1/export_service_pb.ts";
import { EnterpriseDataExportV2Service } from "../gen/proto/dataexport/v2/export_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import {
  type ExportRequest,
  exportInput,
  exportMessage,
  type PagingFields,
  pageOf,
  statusValue,
  type TasksRequest,
  taskFilterOf,
  taskMessage,
} from "./data-export-messages.ts";

/** Version 1: the download of a purged archive is `failed_precondition` (spec/enterprise.md 6). */
export const dataExportHandlers = (exports: Exports) =>
  implement(EnterpriseDataExportService, operations(exports, "failed_precondition"));

/**
 * Version 2: the download of a purged archive is `not_found`, paging has defaults, and exports can be ended
 * (spec/enterprise.md 7).
 */
export const dataExportV2Handlers = (exports: Exports) =>
  implement(EnterpriseDataExportV2Service, {
    ...operations(exports, "not_found"),
    async cancelExport(tx, caller, { uid }) {
      return { record: exportMessage(await exports.cancel(tx, caller, uid), null) };
    },
    async deleteExport(tx, caller, { uid }) {
      await exports.remove(tx, caller, uid);
      return {};
    },
  });

const operations = (exports: Exports, purged: "not_found" | "failed_precondition") => ({
  async listTasks(tx: Tx, caller: Caller, request: TasksRequest & PagingFields & OfUser) {
    const { items, total } = await exports.tasks(
      tx,
      caller,
      request.user,
      taskFilterOf(request),
      pageOf(request),
    );
    return { records: items.map(taskMessage), total };
  },
  async createExport(tx: Tx, caller: Caller, request: ExportRequest) {
    const { newExport, teamId } = await exports.create(tx, caller, exportInput(request));
    return {
      uid: newExport.id,
      status: statusValue.pending,
      createdAt: timestampFromMs(newExport.createdAt),
      userId: newExport.accountId,
      enterpriseUid: teamId,
    };
  },
  async getExport(tx: Tx, caller: Caller, { uid }: OfExport) {
    const record = await exports.get(tx, caller, uid);
    return { record: exportMessage(record, exports.link(record)) };
  },
  async listExports(tx: Tx, caller: Caller, request: PagingFields & OfUser) {
    const { items, total } = await exports.list(tx, caller, request.user, pageOf(request));
    return { records: items.map((item) => exportMessage(item, exports.link(item))), total };
  },
  async getDownloadURL(tx: Tx, caller: Caller, { uid }: OfExport) {
    const { url, expiresAt } = await exports.download(tx, caller, uid, purged);
    return { downloadUrl: url, expiresAt: timestampFromMs(expiresAt) };
  },
});

interface OfUser {
  /** An account id or an address. */
  readonly user: string;
}

interface OfExport {
  readonly uid: string;
}
