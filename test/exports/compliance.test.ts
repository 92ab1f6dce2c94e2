import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { cancelExport } from "../../src/core/exports/exports.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { openService } from "../support/service.ts";
import { type ExportsRig, exportsRig } from "./exports-rig.ts";
import { complianceSurfaces, type Method, refusal, type Surface, type SurfaceReply } from "./surfaces.ts";

const minute = 60_000;
const day = 1440 * minute;
const iso = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
const all = Object.entries(complianceSurfaces);
const everything = ["user_chat", "agent_reply", "tool_call", "tool_result"];

describeOnOne("compliance exports", (kind) => {
  let rig: ExportsRig;
  let headers: Readonly<Record<string, string>>;
  beforeAll(async () => {
    rig = await exportsRig(kind);
    headers = {
      "x-api-key": (await rig.service.person({ kind: "siem", as: rig.owner, with: rig.owner })).key,
    };
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  beforeEach(() => endAll(rig));

  const ask = (surface: Surface, method: Method, body: JsonObject, headed = headers): Promise<SurfaceReply> =>
    surface.call(rig.service.url, method, body, headed);
  const made = async (surface: Surface, body: JsonObject = {}) =>
    String((await ask(surface, "CreateExport", body)).body["uid"]);
  const record = async (surface: Surface, uid: string) =>
    (await ask(surface, "GetExport", { uid })).body["record"] as JsonObject;
  const claim = (uid: string, now = rig.clock.now()) =>
    rig.store.change((tx) => tx.exports.claim(uid, now, now + minute));

  /** Ends an export as its job would. */
  async function complete(uid: string, eventCount = 812, bytes = 90_441): Promise<void> {
    const now = rig.clock.now();
    await claim(uid, now);
    await rig.store.change((tx) =>
      tx.exports.complete(uid, 1, { blobId: `blob-${uid}`, bytes, sha256: "ab", eventCount }, now),
    );
  }

  describe.each(share(all, 1, 2))("over %s", (_name, surface) => {
    test("are created pending, and are shown as pending", async () => {
      const reply = await ask(surface, "CreateExport", {});
      const pending = { status: "COMPLIANCE_EXPORT_STATUS_PENDING", created_at: iso(rig.clock.now()) };
      expect(reply.body).toEqual({ uid: expect.stringMatching(/^[2-9A-HJ-NP-Za-km-z]{22}$/), ...pending });
      expect(reply.requestId).toMatch(/^req_/);
      expect(await record(surface, String(reply.body["uid"]))).toEqual({
        uid: reply.body["uid"],
        ...pending,
      });
    });

    test("keep the request, and create their job in the same change", async () => {
      const { id } = await rig.putTask(rig.bo);
      const uid = await made(surface, {
        ...{
          user: rig.bo.accountId,
          session_uid: id,
          start_time: "2031-01-01T00:00:00.0001Z",
          end_time: "2031-01-02T00:00:00Z",
        },
        ...{
          event_names: ["EVENT_NAME_TOOL_RESULT", "EVENT_NAME_USER_CHAT", "EVENT_NAME_TOOL_RESULT"],
          reason: "case 31-07",
        },
      });
      expect(await rig.store.exports.byId(uid)).toMatchObject({
        ...{
          kind: "compliance",
          spaceId: rig.owner.spaceId,
          requestedBy: rig.owner.accountId,
          reason: "case 31-07",
        },
        filter: {
          ...{
            user: rig.bo.accountId,
            session: id,
            startTime: Date.UTC(2031, 0, 1) + 1,
            endTime: Date.UTC(2031, 0, 2),
          },
          ...{ names: ["user_chat", "tool_result"], includePayload: false },
        },
      });
      expect(await rig.jobs()).toContain(uid);
    });

    test("include by default every user, every task, all four kinds and any time", async () => {
      const filter = {
        user: null,
        session: null,
        startTime: null,
        endTime: null,
        names: everything,
        includePayload: false,
      };
      for (const body of [{}, { user: "", session_uid: "", event_names: [], reason: "" }]) {
        expect(await rig.store.exports.byId(await made(surface, body))).toMatchObject({ filter, reason: "" });
        await endAll(rig);
      }
    });

    test("run one at a time in an enterprise, while pending or processing", async () => {
      const busy = async () =>
        expect(await ask(surface, "CreateExport", {})).toMatchObject({
          ...refusal(surface, "failed_precondition"),
          message: "another export of the team's events has not ended yet",
        });
      const first = await made(surface);
      await busy();
      await claim(first);
      await busy();
      await rig.store.change((tx) => tx.exports.fail(first, 1, "no room", rig.clock.now()));
      const second = await made(surface);
      await busy();
      await complete(second);
      expect((await ask(surface, "CreateExport", {})).body["status"]).toBe(
        "COMPLIANCE_EXPORT_STATUS_PENDING",
      );
    });

    test("do not block other enterprises or exports of persons, and are not blocked by them", async () => {
      await made(surface);
      const stranger = await rig.service.person({ kind: "siem" });
      const theirs = await ask(surface, "CreateExport", {}, { "x-api-key": stranger.key });
      expect(theirs.body["status"]).toBe("COMPLIANCE_EXPORT_STATUS_PENDING");
      for (let n = 0; n < 2; n += 1) {
        const body = { user_id: rig.bo.accountId, scope: "ENTERPRISE_EXPORT_SCOPE_TASKS" };
        expect((await rig.owner.v2("enterprise.export.create", body)).status).toBe(200);
      }
    });

    test("are refused for every broken rule, and nothing is written", async () => {
      const before = await rig.count();
      const invalidBodies: JsonObject[] = [
        { event_names: ["EVENT_NAME_UNSPECIFIED"] },
        { event_names: ["EVENT_NAME_USER_CHAT", "EVENT_NAME_UNSPECIFIED"] },
        { start_time: "2031-01-02T00:00:00Z", end_time: "2031-01-01T00:00:00Z" },
        { reason: "x".repeat(2001) },
        { user: "x".repeat(129) },
        { session_uid: "x".repeat(129) },
      ];
      for (const body of invalidBodies)
        expect(await ask(surface, "CreateExport", body), JSON.stringify(body).slice(0, 80)).toMatchObject(
          refusal(surface, "invalid_argument"),
        );
      for (const method of ["GetExport", "GetDownloadURL"] as const)
        expect(await ask(surface, method, {})).toMatchObject(refusal(surface, "invalid_argument"));
      expect(await rig.count()).toBe(before);
    });

    test("are not found for unknown persons, tasks and exports, and those of other teams, with the same text", async () => {
      const stranger = await rig.service.person({ kind: "siem" });
      const theirTask = await rig.putTask(rig.bo, {
        accountId: stranger.accountId,
        spaceId: stranger.spaceId,
      });
      const deletedTask = await rig.putTask(rig.bo);
      await rig.store.change((tx) => tx.tasks.tombstone(deletedTask.id, rig.clock.now(), true));
      const foreign = await ask(surface, "CreateExport", {}, { "x-api-key": stranger.key });
      const data = await rig.owner.v2("enterprise.export.create", {
        user_id: rig.bo.accountId,
        scope: "ENTERPRISE_EXPORT_SCOPE_TASKS",
      });
      const unknown = (reply: SurfaceReply, what: string) =>
        expect(reply).toMatchObject({ ...refusal(surface, "not_found"), message: `${what} not found` });
      for (const user of ["nobody", stranger.accountId, rig.bo.email])
        unknown(await ask(surface, "CreateExport", { user }), "user: user");
      for (const session_uid of ["nothing", theirTask.id, deletedTask.id])
        unknown(await ask(surface, "CreateExport", { session_uid }), "session_uid: task");
      for (const uid of ["nothing", String(foreign.body["uid"]), String(data.body["uid"])])
        for (const method of ["GetExport", "GetDownloadURL"] as const)
          unknown(await ask(surface, method, { uid }), "export");
      expect(
        (await ask(surface, "GetExport", { uid: String(foreign.body["uid"]) }, { "x-api-key": stranger.key }))
          .body,
      ).toMatchObject({
        record: { uid: foreign.body["uid"] },
      });
    });

    test("are not listed among the exports of persons", async () => {
      const uid = await made(surface);
      for (const name of ["enterprise.export.detail", "enterprise.export.downloadUrl"])
        expect((await rig.owner.v2(name, { uid })).body.error).toMatchObject({
          code: "not_found",
          message: "export not found",
        });
      const { body } = await rig.owner.v2("enterprise.export.list", { user: rig.owner.accountId });
      expect(body).toMatchObject({ records: [], total: 0 });
    });

    test("of a removed member work as for any other member", async () => {
      const gone = await rig.addMember();
      await rig.removeMember(gone);
      expect((await ask(surface, "CreateExport", { user: gone.accountId })).body["status"]).toBe(
        "COMPLIANCE_EXPORT_STATUS_PENDING",
      );
    });

    test("show their result: in progress, complete with count and size, failed with the reason", async () => {
      const uid = await made(surface);
      const now = rig.clock.now();
      const begun = { uid, created_at: iso(now) };
      await claim(uid);
      expect(await record(surface, uid)).toEqual({
        ...{ ...begun, status: "COMPLIANCE_EXPORT_STATUS_PROCESSING" },
        progress: { done: 0, total: 0, percent: 0 },
      });
      expect(await ask(surface, "GetDownloadURL", { uid })).toMatchObject(
        refusal(surface, "failed_precondition"),
      );
      await rig.store.change((tx) =>
        tx.exports.complete(
          uid,
          1,
          { blobId: "b", bytes: 5_000_000_000, sha256: "ab", eventCount: 812 },
          now + 1000,
        ),
      );
      // Numbers, not strings, on every surface (spec/enterprise.md 13, row 30).
      expect(await record(surface, uid)).toEqual({
        ...{ ...begun, status: "COMPLIANCE_EXPORT_STATUS_COMPLETED", completed_at: iso(now + 1000) },
        ...{ event_count: 812, file_size: 5_000_000_000 },
      });
      const other = await made(surface);
      await claim(other);
      await rig.store.change((tx) => tx.exports.fail(other, 1, "no room", now + 2000));
      const failed = {
        uid: other,
        created_at: iso(now),
        completed_at: iso(now + 2000),
        status: "COMPLIANCE_EXPORT_STATUS_FAILED",
      };
      expect(await record(surface, other)).toEqual({ ...failed, error_message: "no room" });
      expect(await ask(surface, "GetDownloadURL", { uid: other })).toMatchObject(
        refusal(surface, "failed_precondition"),
      );
    });

    test("of an archive without events report zero events", async () => {
      const uid = await made(surface);
      await complete(uid, 0, 22);
      expect(await record(surface, uid)).toMatchObject({ event_count: 0, file_size: 22 });
    });

    test("ended by an operator have failed", async () => {
      const uid = await made(surface);
      const making = { now: rig.clock.now(), ids: systemIds, random: systemRandom };
      await rig.store.change((tx) => cancelExport(tx, making, uid));
      expect(await record(surface, uid)).toMatchObject({
        ...{
          status: "COMPLIANCE_EXPORT_STATUS_FAILED",
          error_message: "the export was cancelled",
          completed_at: iso(making.now),
        },
      });
      expect(await ask(surface, "GetDownloadURL", { uid })).toMatchObject(
        refusal(surface, "failed_precondition"),
      );
    });

    test("have an address valid for 15 minutes, another one on each request, and none after 30 days", async () => {
      const uid = await made(surface);
      expect(await ask(surface, "GetDownloadURL", { uid })).toMatchObject(
        refusal(surface, "failed_precondition"),
      );
      await complete(uid);
      const address = async () => (await ask(surface, "GetDownloadURL", { uid })).body;
      const first = await address();
      expect(first).toEqual({
        download_url: expect.stringMatching(
          new RegExp(`^https://platform\\.test/exports/${uid}/[0-9]+/[\\w-]+$`),
        ),
        expires_at: iso(Math.floor((rig.clock.now() + 15 * minute) / 1000) * 1000),
      });
      rig.clock.step(minute);
      expect(await address()).not.toEqual(first);
      rig.clock.step(30 * day - minute - 1);
      expect((await address())["download_url"]).toBeDefined();
      rig.clock.step(1);
      expect(await ask(surface, "GetDownloadURL", { uid })).toMatchObject({
        ...refusal(surface, "not_found"),
        message: "archive not found",
      });
      expect(await record(surface, uid)).toMatchObject({
        status: "COMPLIANCE_EXPORT_STATUS_COMPLETED",
        event_count: 812,
      });
    });

    test("accept only SIEM keys, and name the required kind for others", async () => {
      const kinds = [
        "general",
        "ediscovery",
        "team_user_mgmt",
        "team_asset_audit",
        "team_asset_mgmt",
      ] as const;
      for (const other of kinds) {
        const { key } = await rig.service.person({ kind: other, as: rig.owner, with: rig.owner });
        for (const method of ["CreateExport", "GetExport", "GetDownloadURL"] as const) {
          const reply = await ask(surface, method, method === "CreateExport" ? {} : { uid: "x" }, {
            "x-api-key": key,
          });
          expect(reply, `${other} ${method}`).toMatchObject(refusal(surface, "permission_denied"));
          expect(reply.message).toContain("SIEM key");
        }
      }
    });
  });

  test("requested twenty times at once on every wire and node are written once, with one job", async () => {
    const jobs = (await rig.jobs()).length;
    const before = await rig.count();
    const reply = await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const surface = all[at % all.length]?.[1];
        return surface ? ask(surface, "CreateExport", {}) : Promise.reject(new Error("no surface"));
      }),
    );
    expect(reply.filter(({ code }) => code === undefined)).toHaveLength(1);
    expect(reply.filter(({ code }) => code === "failed_precondition")).toHaveLength(19);
    expect([await rig.count(), (await rig.jobs()).length]).toEqual([before + 1, jobs + 1]);
  });

  test("repeated with their Idempotency-Key return the same answer, and stay one", async () => {
    const headed = { ...headers, "idempotency-key": "first" };
    const surface = complianceSurfaces["v2 JSON"] as Surface;
    const [first, again] = [
      await ask(surface, "CreateExport", {}, headed),
      await ask(surface, "CreateExport", {}, headed),
    ];
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  test("are in the audit log with user, reason and kinds of events", async () => {
    const surface = complianceSurfaces["v2 JSON"] as Surface;
    const uid = await made(surface, {
      user: rig.bo.accountId,
      event_names: ["EVENT_NAME_TOOL_CALL"],
      include_payload: true,
      reason: "case 7",
    });
    const rows = await rowsIn(
      rig.url,
      `SELECT operation, account_id, after FROM audit_event WHERE subject = '${uid}'`,
    );
    expect(rows).toMatchObject([
      {
        operation: "observability.v2.EnterpriseComplianceV2Service/CreateExport",
        account_id: rig.owner.accountId,
      },
    ]);
    expect(JSON.parse(String(rows[0]?.["after"]))).toEqual({
      ...{ reason: "case 7", user: rig.bo.accountId, session: null, startTime: null, endTime: null },
      // Requested payloads have no effect without the operator's consent.
      ...{ names: ["tool_call"], includePayload: false },
    });
  });
});

describe("SIEM_PAYLOADS", () => {
  test.each([
    ["off", true, false],
    ["on", true, true],
    ["on", false, false],
  ])("with %s and requested payloads: %s; they are packed: %s", async (word, asked, packed) => {
    await using service = await openService({ idle: true, env: { SIEM_PAYLOADS: word } });
    const { v2 } = await service.person({ kind: "siem" });
    const { body } = await v2("enterprise.compliance.export.create", { include_payload: asked });
    expect(await service.store.exports.byId(body["uid"])).toMatchObject({
      filter: { includePayload: packed },
    });
  });
});

test("may be created 10 times and read 100 times a minute", async () => {
  await using service = await openService({ idle: true, env: { RATE_LIMITS: "default" } });
  const { v2 } = await service.person({ kind: "siem" });
  const names = ["create", "detail", "downloadUrl"];
  const replies = await Promise.all(
    names.map((name) => v2(`enterprise.compliance.export.${name}`, { uid: "x" })),
  );
  expect(replies.map(({ headers }) => headers.get("ratelimit-limit"))).toEqual(["10", "100", "100"]);
});

/** Ends every unfinished export. */
async function endAll({ store, clock }: ExportsRig): Promise<void> {
  for (const id of await store.exports.unclaimed(Number.MAX_SAFE_INTEGER, 1_000))
    await store.change((tx) => tx.exports.cancel(id, clock.now()));
}
