import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Handlers } from "../call/handlers.ts";
import type { Caller } from "../core/caller.ts";
import type { Exports } from "../core/exports/exports.ts";
import type { Tx } from "../core/store.ts";
import type { EnterpriseDataExportService } from "../gen/proto/dataexport/v1/export_service_pb.ts";
import type { EnterpriseDataExportV2Service } from "../gen/proto/dataexport/v2/export_service_pb.ts";
import {
  type AskedExport,
  type AskedPage,
  type AskedTasks,
  exportMessage,
  pageOf,
  statusValue,
  taskFilterOf,
  taskMessage,
  wantedOf,
} from "./data-export-words.ts";

/** Version 1, where a purged archive is a precondition that fails (contract/enterprise.md 6). */
export const dataExportHandlers = (exports: Exports): Handlers<typeof EnterpriseDataExportService> => operations(exports, "precondition");

/** Version 2, where it is not found, and paging has defaults (contract/enterprise.md 7). */
export const dataExportV2Handlers = (exports: Exports): Handlers<typeof EnterpriseDataExportV2Service> => operations(exports, "absent");

/** What both versions do. */
const operations = (exports: Exports, purged: "absent" | "precondition") => ({
  async listTasks(tx: Tx, caller: Caller, request: AskedTasks & AskedPage & OfUser) {
    const { items, total } = await exports.tasks(tx, caller, request.user, taskFilterOf(request), pageOf(request));
    return { records: items.map(taskMessage), total };
  },
  async createExport(tx: Tx, caller: Caller, request: AskedExport) {
    const { wanted, teamId } = await exports.create(tx, caller, wantedOf(request));
    return {
      uid: wanted.id,
      status: statusValue.pending,
      createdAt: timestampFromMs(wanted.createdAt),
      userId: wanted.accountId,
      enterpriseUid: teamId,
    };
  },
  async getExport(tx: Tx, caller: Caller, { uid }: OfExport) {
    const found = await exports.get(tx, caller, uid);
    return { record: exportMessage(found, exports.link(found)) };
  },
  async listExports(tx: Tx, caller: Caller, request: AskedPage & OfUser) {
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
