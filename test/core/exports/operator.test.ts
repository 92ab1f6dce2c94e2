import { expect, test } from "vitest";
import { cancelExport, listOpenExports } from "../../../src/core/exports/exports.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { requestExport } from "../../exports/export-rig.ts";
import { ann, bo, sampleCompliance } from "../../store/samples.ts";
import { describeOnOne, openTestStore, rowsIn } from "../../support/database.ts";

const making = { now: 5_000, ids: systemIds, random: systemRandom };

describeOnOne("an operator", (kind) => {
  test("sees the unfinished exports of all accounts, with their progress", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    expect(await listOpenExports(store)).toEqual([]);
    const [one, other, over] = [
      await requestExport(store, ann, "full", {}, 1_000),
      await requestExport(store, bo, "tasks", {}, 2_000),
      await requestExport(store, bo, "tasks"),
    ];
    await store.change(async (tx) => {
      await tx.exports.claim(other, 3_000, 9_000);
      await tx.exports.progress(other, 1, { done: 2, total: 3 }, 9_000);
      await tx.exports.cancel(over, 4_000);
    });
    expect(await listOpenExports(store)).toMatchObject([
      {
        id: one,
        status: "pending",
        progress: { done: 0, total: 0 },
        kind: "data",
        accountId: "ann",
        createdAt: 1_000,
      },
      {
        id: other,
        status: "processing",
        progress: { done: 2, total: 3 },
        kind: "data",
        accountId: "bo",
        createdAt: 2_000,
      },
    ]);
  });

  test("sees and ends a compliance export as such, under its separate operation", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const pendingExport = sampleCompliance({ createdAt: 1_000 });
    await store.change((tx) => tx.exports.insert(pendingExport));
    expect(await listOpenExports(store)).toMatchObject([
      { id: pendingExport.id, status: "pending", kind: "compliance", createdAt: 1_000 },
    ]);
    await store.change((tx) => cancelExport(tx, making, pendingExport.id));
    expect(await rowsIn(database.url, "SELECT space_id, operation, subject FROM audit_event")).toEqual([
      {
        ...{ space_id: pendingExport.spaceId, subject: pendingExport.id },
        operation: "observability.v2.EnterpriseComplianceV2Service/CancelExport",
      },
    ]);
  });

  test("ends an export once, with a row in the space's audit log", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const id = await requestExport(store, ann, "full", {}, 1_000);
    const cancel = (which: string) => store.change((tx) => cancelExport(tx, making, which));
    await expect(cancel("unknown")).rejects.toMatchObject({ reason: "not_found" });
    await cancel(id);
    expect(await store.exports.byId(id)).toMatchObject({ status: "cancelled", completedAt: 5_000 });
    await expect(cancel(id)).rejects.toMatchObject({
      reason: "failed_precondition",
      message: "the export has ended: it is cancelled",
    });
    const rows = await rowsIn(
      database.url,
      "SELECT space_id, credential, operation, subject, before, after FROM audit_event",
    );
    expect(rows).toEqual([
      {
        ...{
          space_id: "north",
          credential: "command",
          operation: "dataexport.v1.EnterpriseDataExportService/CancelExport",
        },
        ...{ subject: id, before: '{"status":"pending"}', after: '{"status":"cancelled"}' },
      },
    ]);
  });
});
