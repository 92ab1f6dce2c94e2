import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import type { Export } from "../../src/core/exports/export.ts";
import { systemIds } from "../../src/core/ids.ts";
import { openFilePlatform, readBlobTotals, until } from "../files/files-rig.ts";
import { sampleCompliance } from "../store/samples.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { createExporter, downloadUrl, requestExport, waitForExport } from "./export-rig.ts";
import { type ExportsRig, exportsRig } from "./exports-rig.ts";

const minute = 60_000;
const rounds = 20;

/** Cancel, delete and list (spec/enterprise.md 7.7, 7.8, 8.7, 8.8 and 8.9). */
describeOnOne("an export", (database) => {
  let rig: ExportsRig;
  let siem: Person;
  let stranger: { readonly data: string; readonly compliance: string };
  beforeAll(async () => {
    rig = await exportsRig(database);
    siem = await rig.service.person({ kind: "siem", as: rig.owner, with: rig.owner });
    const other = await rig.service.person();
    stranger = {
      data: await requestExport(rig.store, other, "full"),
      compliance: await putCompliance(other),
    };
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const putCompliance = async ({ accountId, spaceId }: Person): Promise<string> => {
    const id = systemIds.short();
    await rig.store.change((tx) =>
      tx.exports.insert(
        sampleCompliance({ id, spaceId, requestedBy: accountId, createdAt: rig.clock.now() }),
      ),
    );
    return id;
  };
  const claim = (id: string) =>
    rig.store.change((tx) => tx.exports.claim(id, rig.clock.now(), rig.clock.now() + minute));
  /** Completes a claimed export as its process does; whether it was not too late. */
  const complete = (id: string) =>
    rig.store.change((tx) =>
      tx.exports.complete(
        id,
        1,
        { blobId: `blob-${id}`, bytes: 1, sha256: "", eventCount: 0 },
        rig.clock.now(),
      ),
    );
  const statusOf = async (id: string) => (await rig.store.exports.byId(id))?.status;

  /** Both kinds, with the operations and the credential of each. */
  const kinds = {
    data: {
      name: "enterprise.export",
      service: "dataexport.v2.EnterpriseDataExportV2Service",
      cancelled: { status: "EXPORT_STATUS_CANCELLED" },
      create: () => requestExport(rig.store, rig.owner, "full", {}, rig.clock.now()),
      call: (name: string, uid: string) => rig.owner.v2(`enterprise.export.${name}`, { uid }),
    },
    compliance: {
      name: "enterprise.compliance.export",
      service: "observability.v2.EnterpriseComplianceV2Service",
      cancelled: { status: "COMPLIANCE_EXPORT_STATUS_FAILED", error_message: "the export was cancelled" },
      create: () => putCompliance(siem),
      call: (name: string, uid: string) => siem.v2(`enterprise.compliance.export.${name}`, { uid }),
    },
  } as const;

  describe.each(["data", "compliance"] as const)("of the kind %s", (kind) => {
    const { service, cancelled, create, call } = kinds[kind];

    test.each([
      "pending",
      "processing",
    ])("is cancelled once while %s; a second call changes nothing", async (status) => {
      const uid = await create();
      if (status === "processing") await claim(uid);
      const first = await call("cancel", uid);
      expect([first.status, first.body]).toMatchObject([200, { ok: true, record: { uid, ...cancelled } }]);
      rig.clock.step(minute);
      const second = await call("cancel", uid);
      expect([second.status, second.body["record"]]).toEqual([200, first.body["record"]]);
      expect((await call("detail", uid)).body["record"]).toEqual(first.body["record"]);
      expect([await claim(uid), await complete(uid)]).toEqual([null, false]);
      const rows = await rowsIn(
        rig.url,
        `SELECT operation, before, after FROM audit_event WHERE subject = '${uid}' ORDER BY at`,
      );
      const of = (before: string) => ({
        operation: `${service}/CancelExport`,
        before: `{"status":"${before}"}`,
      });
      expect(rows).toEqual(
        [of(status), of("cancelled")].map((row) => ({ ...row, after: '{"status":"cancelled"}' })),
      );
    });

    test("is not cancelled when it is completed or failed", async () => {
      const done = await create();
      await claim(done);
      await complete(done);
      const failed = await create();
      await claim(failed);
      await rig.store.change((tx) => tx.exports.fail(failed, 1, "no space", rig.clock.now()));
      for (const [uid, state] of [
        [done, "completed"],
        [failed, "failed"],
      ] as const) {
        const { status, body } = await call("cancel", uid);
        expect([status, body["error"]?.message]).toEqual([412, `the export has ended: it is ${state}`]);
        expect(await statusOf(uid)).toBe(state);
      }
      expect((await call("downloadUrl", done)).status).toBe(200);
    });

    test("is not deleted until it has ended, and then is unknown to every operation", async () => {
      for (const end of ["complete", "fail", "cancel"] as const) {
        const uid = await create();
        for (const begin of [async () => undefined, () => claim(uid)]) {
          await begin();
          const { status, body } = await call("delete", uid);
          expect([status, body["error"]?.message]).toEqual([
            412,
            "the export has not ended: cancel it first",
          ]);
        }
        if (end === "complete") await complete(uid);
        else if (end === "cancel") await call("cancel", uid);
        else await rig.store.change((tx) => tx.exports.fail(uid, 1, "no space", rig.clock.now()));
        expect((await call("delete", uid)).body).toEqual({ ok: true, request_id: expect.any(String) });
        for (const name of ["detail", "downloadUrl", "cancel", "delete"]) {
          const { status, body } = await call(name, uid);
          expect([name, status, body["error"]?.message]).toEqual([name, 404, "export not found"]);
        }
        expect(await rig.store.exports.byId(uid)).toBeNull();
        const rows = await rowsIn(
          rig.url,
          `SELECT operation FROM audit_event WHERE subject = '${uid}' AND operation LIKE '%/DeleteExport'`,
        );
        expect(rows).toEqual([{ operation: `${service}/DeleteExport` }]);
      }
    });

    test("of another team, of the other kind, or unknown is not found", async () => {
      const otherKind = kind === "data" ? await putCompliance(siem) : await kinds.data.create();
      for (const uid of [stranger[kind], otherKind, "nothing"])
        for (const name of ["cancel", "delete"]) {
          const { status, body } = await call(name, uid);
          expect([status, body["error"]?.message]).toEqual([404, "export not found"]);
        }
      expect([await statusOf(stranger[kind]), await statusOf(otherKind)]).toEqual(["pending", "pending"]);
      await rig.store.change((tx) => tx.exports.cancel(otherKind, rig.clock.now()));
    });

    test(`ends in one way in each of ${rounds} races of a cancel with the end of the work`, async () => {
      for (let round = 0; round < rounds; round += 1) {
        const uid = await create();
        await claim(uid);
        const [reply, isCompleted] = await Promise.all([call("cancel", uid), complete(uid)]);
        expect([reply.status, await statusOf(uid)]).toEqual(
          isCompleted ? [412, "completed"] : [200, "cancelled"],
        );
        expect((await rig.store.exports.byId(uid))?.archive === null).toBe(!isCompleted);
      }
    });

    test("answers concurrent cancels with the same state, and deletes once of concurrent calls", async () => {
      const uid = await create();
      const cancels = await Promise.all(Array.from({ length: 5 }, () => call("cancel", uid)));
      expect(cancels.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      const deletes = await Promise.all(Array.from({ length: 5 }, () => call("delete", uid)));
      expect(deletes.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404]);
    });
  });

  test("that is cancelled makes room for the next compliance export", async () => {
    const { body } = await siem.v2("enterprise.compliance.export.create", {});
    expect((await siem.v2("enterprise.compliance.export.create", {})).status).toBe(412);
    await siem.v2("enterprise.compliance.export.cancel", { uid: body["uid"] });
    const next = await siem.v2("enterprise.compliance.export.create", {});
    expect(next.status).toBe(200);
    await siem.v2("enterprise.compliance.export.cancel", { uid: next.body["uid"] });
  });

  test("is listed with the team's other compliance exports, newest first, with its progress, and no others", async () => {
    const owner = await rig.service.person();
    const own = await rig.service.person({ kind: "siem", as: owner, with: owner });
    const list = async (body: object) => (await own.v2("enterprise.compliance.export.list", body)).body;
    expect(await list({})).toMatchObject({ records: [], total: 0 });
    await requestExport(rig.store, owner, "full");
    const uids: string[] = [];
    for (let at = 0; at < 12; at += 1) {
      rig.clock.step(1000);
      uids.unshift(await putCompliance(own));
      if (at < 11) await rig.store.change((tx) => tx.exports.cancel(uids[0] ?? "", rig.clock.now()));
    }
    await claim(uids[0] ?? "");
    await rig.store.change((tx) =>
      tx.exports.progress(uids[0] ?? "", 1, { done: 1, total: 3 }, rig.clock.now() + minute),
    );
    const page = await list({});
    const of = (body: typeof page) => (body["records"] as { uid: string }[]).map(({ uid }) => uid);
    expect([of(page), page["total"]]).toEqual([uids.slice(0, 10), 12]);
    expect(page["records"][0]).toMatchObject({
      status: "COMPLIANCE_EXPORT_STATUS_PROCESSING",
      progress: { done: 1, total: 3, percent: 33 },
    });
    expect(page["records"][1]).not.toHaveProperty("progress");
    expect((await own.v2("enterprise.compliance.export.detail", { uid: uids[0] })).body["record"]).toEqual(
      page["records"][0],
    );
    expect([of(await list({ page: 2 })), of(await list({ page: 3, page_size: 5 }))]).toEqual([
      uids.slice(10),
      uids.slice(10),
    ]);
    for (const invalid of [{ page: 0 }, { page_size: 0 }, { page_size: 1001 }])
      expect((await own.v2("enterprise.compliance.export.list", invalid)).status).toBe(400);
  });
});

describeOnOne("the archive of an export", (database) => {
  test("that is deleted is gone: its links are 404 at once, a download in progress is complete or breaks, and its bytes are freed", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const { store } = platform.service;
    const ann = await platform.service.person();
    const exporter = createExporter(store, createLocalBlobs(platform.folder), clock);
    const make = async (): Promise<Export> => {
      const id = await requestExport(store, ann, "full", {}, clock.now());
      await exporter.wake();
      return waitForExport(store, id);
    };
    const [gone, left] = [await make(), await make()];
    await exporter.drain(0);
    const url = downloadUrl(platform, gone.id, clock.now());
    const running = await fetch(url);
    const { status } = await ann.v2("enterprise.export.delete", { uid: gone.id });
    expect([status, (await fetch(url)).status]).toEqual([200, 404]);
    await clock.advance(minute);
    await until(async () => (await readBlobTotals(platform.database)).blobs.length === 1);
    const digest = (bytes: ArrayBuffer) => createHash("sha256").update(Buffer.from(bytes)).digest("hex");
    const received = await running.arrayBuffer().then(digest, () => "broken");
    expect([gone.archive?.sha256, "broken"]).toContain(received);
    expect(platform.stored().map((path) => path.split("/").at(-1))).toEqual([left.archive?.blobId]);
    const reply = await fetch(downloadUrl(platform, left.id, clock.now()));
    expect(digest(await reply.arrayBuffer())).toBe(left.archive?.sha256);
  });
});
