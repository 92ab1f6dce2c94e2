import { stepNames } from "../../src/core/exports/export.ts";
import { systemIds } from "../../src/core/ids.ts";
import { EnterpriseDataExportService } from "../../src/gen/proto/dataexport/v1/export_service_pb.ts";
import { EnterpriseDataExportV2Service } from "../../src/gen/proto/dataexport/v2/export_service_pb.ts";
import { EnterpriseComplianceV2Service } from "../../src/gen/proto/observability/v2/compliance_export_service_pb.ts";
import { entries, noInput, type Prepare } from "./entry.ts";

const ofUser: Prepare = async ({ accountId }) => ({ user: accountId });
const pageOfUser: Prepare = async ({ accountId }) => ({ user: accountId, page: 1, page_size: 1 });
const exportRequest: Prepare = async ({ accountId }) => ({
  user_id: accountId,
  scope: "ENTERPRISE_EXPORT_SCOPE_FULL",
});

const exportId: Prepare = async (person, store) => {
  const { body } = await person.v2("enterprise.export.create", await exportRequest(person, store));
  return { uid: body["uid"] };
};

/** An export with a finished archive, as its job writes it, not yet downloaded. */
const completed =
  (made: Prepare): Prepare =>
  async (person, store) => {
    const { uid } = await made(person, store);
    const id = String(uid);
    await store.change(async (tx) => {
      const claimed = await tx.exports.claim(id, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER);
      await tx.exports.complete(
        id,
        claimed?.fence ?? 0,
        { blobId: id, bytes: 1, sha256: "", eventCount: null },
        Date.now(),
      );
    });
    return { uid: id };
  };

/** An export that has ended. */
const ended =
  (made: Prepare): Prepare =>
  async (person, store) => {
    const { uid } = await made(person, store);
    await store.change((tx) => tx.exports.cancel(String(uid), Date.now()));
    return { uid: String(uid) };
  };

/** Requests an empty export, of a space without another open export of this kind. */
const stepsRequest: Prepare = async ({ spaceId }, store) => {
  for (const id of await store.exports.unclaimed(Number.MAX_SAFE_INTEGER, 1_000)) {
    const found = await store.exports.byId(id);
    if (found?.kind === "compliance" && found.spaceId === spaceId)
      await store.change((tx) => tx.exports.cancel(id, Date.now()));
  }
  return {};
};

/** Written as the operation would, which accepts only one kind of key. */
const stepsExportId: Prepare = async (person, store) => {
  await stepsRequest(person, store);
  const { accountId: requestedBy, spaceId } = person;
  const filter = {
    user: null,
    session: null,
    startTime: null,
    endTime: null,
    names: stepNames,
    includePayload: false,
  };
  const row = {
    kind: "compliance" as const,
    id: systemIds.short(),
    spaceId,
    requestedBy,
    filter,
    reason: "",
    createdAt: Date.now(),
  };
  await store.change((tx) => tx.exports.insert(row));
  return { uid: row.id };
};

/** `dataexport.v1.EnterpriseDataExportService`. */
export const exportV1Entries = entries(EnterpriseDataExportService, {
  listTasks: ["exports/list-tasks", pageOfUser],
  createExport: ["exports/exports", exportRequest],
  getExport: ["exports/exports", exportId],
  listExports: ["exports/exports", pageOfUser],
  getDownloadURL: ["exports/exports", completed(exportId)],
});

/** `dataexport.v2.EnterpriseDataExportV2Service`. */
export const exportEntries = entries(EnterpriseDataExportV2Service, {
  listTasks: ["exports/list-tasks", ofUser],
  createExport: ["exports/exports", exportRequest],
  getExport: ["exports/exports", exportId],
  listExports: ["exports/exports", ofUser],
  getDownloadURL: ["exports/exports", completed(exportId)],
  cancelExport: ["exports/end", exportId],
  deleteExport: ["exports/end", ended(exportId)],
});

/** `observability.v2.EnterpriseComplianceV2Service`. */
export const complianceEntries = entries(EnterpriseComplianceV2Service, {
  createExport: ["exports/compliance", stepsRequest],
  getExport: ["exports/compliance", stepsExportId],
  getDownloadURL: ["exports/compliance", completed(stepsExportId)],
  listExports: ["exports/end", noInput],
  cancelExport: ["exports/end", stepsExportId],
  deleteExport: ["exports/end", ended(stepsExportId)],
});
