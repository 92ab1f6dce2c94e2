import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExportScope } from "../../src/core/exports/export.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { type ExportsRig, exportsRig } from "./exports-rig.ts";
import { type Method, refusal, type Surface, type SurfaceReply, surfaces } from "./surfaces.ts";

const minute = 60_000;
const day = 1440 * minute;
const iso = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
const scope = "ENTERPRISE_EXPORT_SCOPE_FULL";
const all = Object.entries(surfaces);
/** `npm test` has the JSON of both versions here; the wires are compared in every operation (wires/table). */
const chosen = share(all, 2, 3);

describeOnOne("exports", (kind) => {
  let rig: ExportsRig;
  beforeAll(async () => {
    rig = await exportsRig(kind);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const ask = (surface: Surface, method: Method, body: JsonObject): Promise<SurfaceReply> =>
    surface.call(rig.service.url, method, body, rig.headers);
  const create = (surface: Surface, body: JsonObject) =>
    ask(surface, "CreateExport", { email: rig.bo.email, scope, ...body });
  const made = async (surface: Surface, body: JsonObject = {}) =>
    String((await create(surface, body)).body["uid"]);
  const record = async (surface: Surface, uid: string) =>
    (await ask(surface, "GetExport", { uid })).body["record"] as JsonObject;

  /** Ends an export as its job would. */
  async function complete(uid: string, bytes = 13_002_342): Promise<void> {
    const now = rig.clock.now();
    await rig.store.change((tx) => tx.exports.claim(uid, now, now + minute));
    await rig.store.change((tx) =>
      tx.exports.complete(uid, 1, { blobId: `blob-${uid}`, bytes, sha256: "ab", eventCount: null }, now),
    );
  }

  describe.each(chosen)("over %s", (_name, surface) => {
    test("are created pending, for the named person, with the team's id", async () => {
      for (const who of [
        { email: rig.bo.email },
        { email: rig.bo.email.toUpperCase() },
        { user_id: rig.bo.accountId, email: "" },
      ]) {
        const reply = await ask(surface, "CreateExport", { scope, ...who });
        expect(reply.body).toEqual({
          uid: expect.stringMatching(/^[2-9A-HJ-NP-Za-km-z]{22}$/),
          status: "EXPORT_STATUS_PENDING",
          created_at: iso(rig.clock.now()),
          user_id: rig.bo.accountId,
          enterprise_uid: `team-${rig.owner.spaceId}`,
        });
        expect(reply.requestId).toMatch(/^req_/);
        const { uid, user_id, status, created_at } = reply.body;
        expect(await record(surface, String(uid))).toEqual({ uid, user_id, status, created_at });
      }
    });

    test("keep the request, and create their job in the same change", async () => {
      const uid = await made(surface, {
        ...{
          scope: "ENTERPRISE_EXPORT_SCOPE_CUSTOM_SESSION_IDS",
          session_ids: ["a", "b", "a"],
          include_deleted: true,
        },
        ...{
          include_files: true,
          start_time: "2031-01-01T00:00:00Z",
          end_time: "2031-01-02T00:00:00Z",
          reason: "case 31-07",
        },
      });
      expect(await rig.store.exports.byId(uid)).toMatchObject({
        ...{
          spaceId: rig.owner.spaceId,
          requestedBy: rig.owner.accountId,
          scope: "custom_session_ids",
          reason: "case 31-07",
        },
        filter: {
          ...{
            includeDeleted: true,
            includeFiles: true,
            startTime: Date.UTC(2031, 0, 1),
            endTime: Date.UTC(2031, 0, 2),
          },
          ...{ sessionIds: ["a", "b"], webdevProjectUids: [], projectUids: [] },
        },
      });
      expect(await rig.jobs()).toContain(uid);
    });

    test.each<[string, ExportScope, boolean]>([
      ["FULL", "full", false],
      ["TASKS", "tasks", false],
      ["TASKS_WITH_ATTACHMENTS", "tasks_with_attachments", true],
      ["WEBDEV_PROJECT", "webdev_project", false],
      ["PROJECT", "project", false],
    ])("accept the scope %s", async (word, kept, includeFiles) => {
      const uid = await made(surface, { scope: `ENTERPRISE_EXPORT_SCOPE_${word}` });
      expect(await rig.store.exports.byId(uid)).toMatchObject({ scope: kept, filter: { includeFiles } });
    });

    test("are refused for every broken rule, and nothing is written", async () => {
      const before = await rig.count();
      const custom = "ENTERPRISE_EXPORT_SCOPE_CUSTOM_SESSION_IDS";
      const invalidBodies: JsonObject[] = [
        { email: "" },
        { user_id: "", email: "" },
        { scope: "ENTERPRISE_EXPORT_SCOPE_UNSPECIFIED" },
        { scope: custom },
        { scope: custom, session_ids: [""] },
        { scope: custom, session_ids: Array.from({ length: 10_001 }, String) },
        { session_ids: ["a"] },
        { project_uids: ["a"] },
        { webdev_project_uids: ["a"] },
        { start_time: "2031-01-02T00:00:00Z", end_time: "2031-01-01T00:00:00Z" },
        { reason: "x".repeat(2001) },
        { email: "x".repeat(255) },
        { user_id: rig.owner.accountId },
      ];
      for (const body of invalidBodies)
        expect(await create(surface, body), JSON.stringify(body).slice(0, 80)).toMatchObject(
          refusal(surface, "invalid_argument"),
        );
      expect(await rig.count()).toBe(before);
    });

    test("are not found for unknown persons, projects and exports, and those of other teams, with the same text", async () => {
      const stranger = await rig.service.person();
      const theirs = await stranger.v2("project.create", { name: "Garden" });
      const foreign = await stranger.v2("enterprise.export.create", { user_id: stranger.accountId, scope });
      const unknown = (reply: SurfaceReply, what: string) =>
        expect(reply).toMatchObject({ ...refusal(surface, "not_found"), message: `${what} not found` });
      for (const user_id of ["nobody", stranger.accountId]) {
        unknown(await create(surface, { user_id }), "user_id: user");
        unknown(await ask(surface, "ListExports", { user: user_id, page: 1, page_size: 1 }), "user: user");
      }
      unknown(await create(surface, { email: "nobody@example.com" }), "email: user");
      for (const uid of ["nothing", theirs.body["project"].id])
        unknown(
          await create(surface, { scope: "ENTERPRISE_EXPORT_SCOPE_PROJECT", project_uids: [uid] }),
          "project_uids: project",
        );
      unknown(
        await create(surface, {
          scope: "ENTERPRISE_EXPORT_SCOPE_WEBDEV_PROJECT",
          webdev_project_uids: ["w"],
        }),
        "webdev_project_uids: website",
      );
      for (const uid of ["nothing", foreign.body["uid"]])
        for (const method of ["GetExport", "GetDownloadURL"] as const)
          unknown(await ask(surface, method, { uid }), "export");
    });

    test("of selected projects accept only the person's projects", async () => {
      const person = await rig.service.person({ with: rig.owner });
      const mine = (await person.v2("project.create", { name: "Garden" })).body["project"].id;
      const owners = (await rig.owner.v2("project.create", { name: "Shed" })).body["project"].id;
      const of = (project_uids: string[]) =>
        ask(surface, "CreateExport", {
          user_id: person.accountId,
          scope: "ENTERPRISE_EXPORT_SCOPE_PROJECT",
          project_uids,
        });
      expect((await of([mine])).body).toMatchObject({ status: "EXPORT_STATUS_PENDING" });
      expect(await of([mine, owners])).toMatchObject(refusal(surface, "not_found"));
    });

    test("show their progress while they are made, and no address", async () => {
      const uid = await made(surface);
      const now = rig.clock.now();
      await rig.store.change((tx) => tx.exports.claim(uid, now, now + minute));
      expect(await record(surface, uid)).toMatchObject({
        status: "EXPORT_STATUS_PROCESSING",
        progress: { done: 0, total: 0, percent: 0 },
      });
      await rig.store.change((tx) => tx.exports.progress(uid, 1, { done: 2, total: 3 }, now + minute));
      const shown = await record(surface, uid);
      expect(shown).toEqual({
        ...{ uid, user_id: rig.bo.accountId, status: "EXPORT_STATUS_PROCESSING", created_at: iso(now) },
        progress: { done: 2, total: 3, percent: 66 },
      });
      expect(await ask(surface, "GetDownloadURL", { uid })).toMatchObject(
        refusal(surface, "failed_precondition"),
      );
    });

    test("that are completed have a size as a number, and on each request a fresh address valid for 10 minutes", async () => {
      const uid = await made(surface);
      const began = rig.clock.now();
      await complete(uid);
      const first = await record(surface, uid);
      expect(first).toEqual({
        ...{
          uid,
          user_id: rig.bo.accountId,
          status: "EXPORT_STATUS_COMPLETED",
          created_at: iso(began),
          completed_at: iso(began),
        },
        ...{ file_size: 13_002_342, file_size_human: "12.4 MB" },
        ...{
          file_url: expect.stringMatching(`^https://platform.test/exports/${uid}/`),
          url_expires_at: iso(began + 10 * minute),
        },
      });
      rig.clock.step(5 * minute);
      const later = await record(surface, uid);
      expect(later["url_expires_at"]).toBe(iso(began + 15 * minute));
      expect(later["file_url"]).not.toBe(first["file_url"]);
      const link = await ask(surface, "GetDownloadURL", { uid });
      expect(link.body).toEqual({ download_url: later["file_url"], expires_at: later["url_expires_at"] });
    });

    test("have sizes beyond 32 bits as numbers", async () => {
      const uid = await made(surface);
      await complete(uid, 5_000_000_000);
      expect(await record(surface, uid)).toMatchObject({
        file_size: 5_000_000_000,
        file_size_human: "4.7 GB",
      });
    });

    test("that failed have a reason, cancelled ones have none; neither has an address", async () => {
      const [failed, cancelled] = [await made(surface), await made(surface)];
      const now = rig.clock.now();
      await rig.store.change((tx) => tx.exports.claim(failed, now, now + minute));
      await rig.store.change((tx) => tx.exports.fail(failed, 1, "the archive could not be written", now));
      await rig.store.change((tx) => tx.exports.cancel(cancelled, now));
      const same = { user_id: rig.bo.accountId, created_at: iso(now) };
      expect(await record(surface, failed)).toEqual({
        ...{
          uid: failed,
          ...same,
          status: "EXPORT_STATUS_FAILED",
          completed_at: iso(now),
          error_message: "the archive could not be written",
        },
      });
      expect(await record(surface, cancelled)).toEqual({
        uid: cancelled,
        ...same,
        status: "EXPORT_STATUS_CANCELLED",
      });
      for (const uid of [failed, cancelled])
        expect(await ask(surface, "GetDownloadURL", { uid })).toMatchObject(
          refusal(surface, "failed_precondition"),
        );
    });

    test("are purged after 30 days: v1 answers failed_precondition, v2 not_found, and the record has no address", async () => {
      const uid = await made(surface);
      await complete(uid);
      rig.clock.step(30 * day - 1);
      expect((await ask(surface, "GetDownloadURL", { uid })).code).toBeUndefined();
      rig.clock.step(1);
      const purged = refusal(surface, surface.version === 1 ? "failed_precondition" : "not_found");
      expect(await ask(surface, "GetDownloadURL", { uid })).toMatchObject(purged);
      const shown = await record(surface, uid);
      expect(shown).toMatchObject({ status: "EXPORT_STATUS_COMPLETED", file_size: 13_002_342 });
      expect(shown).not.toHaveProperty("file_url");
      expect(shown).not.toHaveProperty("url_expires_at");
    });

    test("are listed by person, newest first, with their total, for both versions", async () => {
      const member = await rig.addMember();
      const uids: string[] = [];
      for (const [, by] of all.slice(0, 4)) {
        uids.unshift(
          String((await ask(by, "CreateExport", { user_id: member.accountId, scope })).body["uid"]),
        );
        rig.clock.step(1000);
      }
      const page = async (page: number, page_size: number) =>
        (await ask(surface, "ListExports", { user: member.email, page, page_size })).body;
      const of = (body: JsonObject) => [
        body["total"],
        ...(body["records"] as JsonObject[]).map(({ uid }) => uid),
      ];
      expect(of(await page(1, 1000))).toEqual([4, ...uids]);
      expect([of(await page(1, 3)), of(await page(2, 3)), of(await page(3, 3))]).toEqual([
        [4, ...uids.slice(0, 3)],
        [4, uids[3]],
        [4],
      ]);
      await rig.removeMember(member);
      expect(of(await page(1, 1000))).toEqual([4, ...uids]);
      for (const invalidBodies of [{ page: 0 }, { page_size: 0 }, { page_size: 1001 }, { user: "" }])
        expect(
          await ask(surface, "ListExports", { user: member.email, page: 1, page_size: 1, ...invalidBodies }),
        ).toMatchObject(refusal(surface, "invalid_argument"));
    });

    test("accept past members too, by address and id, and deleted accounts", async () => {
      const member = await rig.addMember();
      await rig.removeMember(member);
      for (const who of [{ email: member.email }, { user_id: member.accountId, email: "" }])
        expect((await ask(surface, "CreateExport", { scope, ...who })).body).toMatchObject({
          user_id: member.accountId,
        });
    });
  });

  test("are noted in the audit log with requester, person, scope and reason; reads are not noted", async () => {
    const uid = await made(surfaces["v2 JSON"] as Surface, { reason: "case 7", include_deleted: true });
    await complete(uid);
    const rows = () =>
      rowsIn(
        rig.url,
        `SELECT operation, subject, account_id, after FROM audit_event WHERE space_id = '${rig.owner.spaceId}'`,
      );
    const before = await rows();
    const row = before.find(({ subject }) => subject === uid);
    expect(row).toMatchObject({
      operation: "dataexport.v2.EnterpriseDataExportV2Service/CreateExport",
      account_id: rig.owner.accountId,
    });
    expect(JSON.parse(String(row?.["after"]))).toMatchObject({
      user_id: rig.bo.accountId,
      scope: "full",
      reason: "case 7",
      includeDeleted: true,
    });
    for (const [, surface] of all) {
      await ask(surface, "ListTasks", { user: rig.bo.email, page: 1, page_size: 1 });
      await ask(surface, "ListExports", { user: rig.bo.email, page: 1, page_size: 1 });
      for (const method of ["GetExport", "GetDownloadURL"] as const) await ask(surface, method, { uid });
    }
    expect(await rows()).toHaveLength(before.length);
  });

  test("can be read by GET on v2", async () => {
    const uid = await made(surfaces["v2 JSON"] as Surface);
    await complete(uid);
    const get = async (name: string, query: object) =>
      (await rig.owner.v2(`enterprise.export.${name}`, query, { method: "GET" })).body;
    expect(await get("detail", { uid })).toMatchObject({ ok: true, record: { uid, file_size: 13_002_342 } });
    expect(await get("list", { user: rig.bo.email, page: "1", page_size: "1" })).toMatchObject({
      ok: true,
      records: [{}],
    });
    expect(await get("list", { user: rig.bo.email })).toMatchObject({ ok: true });
    expect(await get("downloadUrl", { uid })).toMatchObject({ ok: true, download_url: expect.any(String) });
    expect(await get("downloadUrl", {})).toMatchObject({ ok: false, error: { code: "invalid_argument" } });
  });

  test("repeated with the same Idempotency-Key are one, with the answer's own request id on every surface", async () => {
    for (const [name, surface] of all) {
      const again = () =>
        surface.call(
          rig.service.url,
          "CreateExport",
          { email: rig.bo.email, scope },
          {
            ...rig.headers,
            "idempotency-key": `key of ${surface.version}-${surface.wire}`.replaceAll(" ", "-"),
          },
        );
      const [first, second] = [await again(), await again()];
      expect(second.body, name).toEqual(first.body);
      expect(second.requestId).not.toBe(first.requestId);
      expect(second.headers.get("x-request-id")).toBe(second.requestId);
    }
  });

  test("accept only the owner's general key and an e-Discovery key, on every surface", async () => {
    const people = await Promise.all(
      (["super_admin", "admin", "member", "guest"] as const).map((role) =>
        rig.service.person({ with: rig.owner, role }),
      ),
    );
    const kinds = ["siem", "team_user_mgmt", "team_asset_audit", "team_asset_mgmt"] as const;
    const keys = await Promise.all(
      kinds.map((of) => rig.service.person({ kind: of, as: rig.owner, with: rig.owner })),
    );
    for (const [name, surface] of all) {
      const call = (headers: Readonly<Record<string, string>>) =>
        surface.call(rig.service.url, "ListTasks", { user: rig.bo.email, page: 1, page_size: 1 }, headers);
      for (const { headers } of [...people, ...keys])
        expect(await call(headers), name).toMatchObject(refusal(surface, "permission_denied"));
      for (const headers of [rig.headers, rig.owner.headers])
        expect((await call(headers)).body, name).toMatchObject({ total: 0 });
    }
  });
});
