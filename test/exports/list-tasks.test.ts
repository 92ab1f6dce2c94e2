import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TaskStatus } from "../../src/core/tasks/task.ts";
import { describeOnOne } from "../support/database.ts";
import { type ExportsRig, exportsRig } from "./exports-rig.ts";
import { refusal, type Surface, type SurfaceReply, surfaces } from "./surfaces.ts";

const day = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");

describeOnOne("ListTasks", (kind) => {
  let rig: ExportsRig;
  beforeAll(async () => {
    rig = await exportsRig(kind);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const list = (surface: Surface, body: JsonObject): Promise<SurfaceReply> =>
    surface.call(rig.service.url, "ListTasks", { page: 1, page_size: 1000, ...body }, rig.headers);
  const uids = ({ body }: SurfaceReply) => (body["records"] as JsonObject[]).map(({ task_uid }) => task_uid);

  test.each(
    Object.entries(surfaces),
  )("returns exactly the existing fields of a task: %s", async (_name, surface) => {
    const member = await rig.addMember();
    const now = rig.clock.now();
    const plain = await rig.putTask(member, { createdAt: now - 3, lastMessageAt: now, status: "stopped" });
    const whole = await rig.putTask(member, {
      createdAt: now - 2,
      projectId: "p1",
      scheduleId: "s1",
      shareVisibility: "team",
      status: "waiting",
    });
    const deletedTask = await rig.putTask(member, {
      createdAt: now - 1,
      shareVisibility: "public",
      status: "error",
    });
    await rig.store.change((tx) => tx.tasks.tombstone(deletedTask.id, now + 5, false));
    const reply = await list(surface, { user: member.accountId, include_deleted: true });
    const same = {
      user_id: member.accountId,
      title: "Post",
      audit_status: 0,
      is_blocked: false,
      space_id: rig.owner.spaceId,
      scheduled_task: false,
    };
    const times = ({ createdAt, updatedAt, lastMessageAt }: typeof plain) => ({
      ...{ created_at: iso(createdAt), updated_at: iso(updatedAt), last_message_time: iso(lastMessageAt) },
    });
    expect(reply.body).toEqual({
      total: 3,
      records: [
        {
          ...{
            task_uid: deletedTask.id,
            ...same,
            ...times({ ...deletedTask, updatedAt: now + 5 }),
            status: "SESSION_STATUS_ERROR",
          },
          ...{ is_deleted: true, deleted_at: iso(now + 5), is_shared: true },
        },
        {
          task_uid: whole.id,
          ...same,
          ...times(whole),
          status: "SESSION_STATUS_WAITING",
          is_deleted: false,
          is_shared: true,
          project_uid: "p1",
          scheduled_task: true,
          scheduled_task_uid: "s1",
        },
        {
          task_uid: plain.id,
          ...same,
          ...times(plain),
          status: "SESSION_STATUS_STOPPED",
          is_deleted: false,
          is_shared: false,
        },
      ],
    });
    expect(reply.requestId).toMatch(/^req_[0-9A-Za-z]{22}$/);
    expect(reply.headers.get("x-request-id")).toBe(reply.requestId);
  });

  test.each<[TaskStatus, string]>([
    ["running", "SESSION_STATUS_RUNNING"],
    ["waiting", "SESSION_STATUS_WAITING"],
    ["stopped", "SESSION_STATUS_STOPPED"],
    ["error", "SESSION_STATUS_ERROR"],
  ])("returns %s as %s", async (status, wireStatus) => {
    const member = await rig.addMember();
    await rig.putTask(member, { status });
    const { body } = await list(surfaces["v2 JSON"] as Surface, { user: member.email });
    expect(body["records"]).toMatchObject([{ status: wireStatus }]);
  });

  test.each(
    Object.entries(surfaces),
  )("finds a member by id and by address, ignoring case: %s", async (_name, surface) => {
    const member = await rig.addMember("guest");
    const task = await rig.putTask(member);
    for (const user of [member.accountId, member.email, member.email.toUpperCase()])
      expect(uids(await list(surface, { user }))).toEqual([task.id]);
  });

  test.each(
    Object.entries(surfaces),
  )("returns the same total and tasks before and after the member is removed: %s", async (_name, surface) => {
    const member = await rig.addMember();
    for (const createdAt of [1, 2, 3]) await rig.putTask(member, { createdAt });
    const before = await list(surface, { user: member.email });
    expect(before.body["total"]).toBe(3);
    await rig.removeMember(member);
    for (const user of [member.email, member.accountId])
      expect((await list(surface, { user })).body).toEqual(before.body);
  });

  test("pages contain every task once, newest first, with one total; a page after the last one is empty", async () => {
    const member = await rig.addMember();
    const made: string[] = [];
    for (let n = 0; n < 25; n++)
      made.unshift(
        (
          await rig.putTask(member, {
            id: `page-${kind}-${String(n).padStart(2, "0")}`,
            createdAt: 1000 + Math.floor(n / 4),
          })
        ).id,
      );
    for (const [name, surface] of Object.entries(surfaces)) {
      const pageIds: unknown[] = [];
      for (let page = 1; page <= 4; page++) {
        const reply = await list(surface, { user: member.accountId, page, page_size: 10 });
        expect(reply.body["total"], name).toBe(25);
        pageIds.push(...uids(reply));
        if (page > 3) expect(reply.body["records"]).toEqual([]);
      }
      expect(pageIds, name).toEqual(made);
    }
    const { body } = await rig.owner.v2("enterprise.task.list", { user: member.accountId });
    expect(body["records"]).toHaveLength(10);
  });

  test.each(
    Object.entries(surfaces),
  )("includes both time bounds, to the nanosecond: %s", async (_name, surface) => {
    const member = await rig.addMember();
    const at = 1_700_000_000_000;
    const [first, second] = [
      await rig.putTask(member, { createdAt: at }),
      await rig.putTask(member, { createdAt: at + day + 1 }),
    ];
    const ids = async (body: JsonObject) => uids(await list(surface, { user: member.accountId, ...body }));
    expect(await ids({ start_time: iso(at), end_time: iso(at + day + 1) })).toEqual([second.id, first.id]);
    expect(await ids({ start_time: iso(at).replace("Z", ".000000001Z") })).toEqual([second.id]);
    expect(await ids({ end_time: iso(at + day) })).toEqual([first.id]);
    expect(await ids({ end_time: iso(at + day + 1).replace("001Z", "001999999Z") })).toEqual([
      second.id,
      first.id,
    ]);
    expect(await ids({ start_time: "2023-11-14T23:13:20+01:00", end_time: "2023-11-14T22:13:20Z" })).toEqual([
      first.id,
    ]);
  });

  test.each(
    Object.entries(surfaces),
  )("leaves out the agent's main task until it has a message: %s", async (_name, surface) => {
    const person = await rig.service.person({ with: rig.owner });
    const ask = () => list(surface, { user: person.accountId });
    expect((await ask()).body).toEqual({ records: [], total: 0 });
    await person.v2("task.sendMessage", {
      task_id: "agent-default-main_task",
      message: { content: "Hello" },
    });
    expect((await ask()).body).toMatchObject({ total: 1, records: [{ user_id: person.accountId }] });
  });

  test.each(
    Object.entries(surfaces),
  )("gives the same answer for an unknown person, another team's member and a person with only a personal space: %s", async (_name, surface) => {
    const outsider = await rig.service.person();
    const personalUser = await rig.service.person({ personal: true });
    for (const user of ["nobody@example.com", "x", outsider.accountId, personalUser.accountId]) {
      const reply = await list(surface, { user });
      expect(reply).toMatchObject({ ...refusal(surface, "not_found"), message: "user: user not found" });
    }
  });

  test.each(
    Object.entries(surfaces),
  )("returns only this team's tasks of a member of two teams: %s", async (_name, surface) => {
    const elsewhere = await rig.service.person();
    const here = await rig.service.person({ as: elsewhere, role: "member" });
    await rig.run(
      `UPDATE membership SET space_id = '${rig.owner.spaceId}', team_id = 'team-${rig.owner.spaceId}' WHERE space_id = '${here.spaceId}'`,
    );
    const member = { accountId: elsewhere.accountId, email: "" };
    await rig.putTask(member, { spaceId: elsewhere.spaceId });
    const task = await rig.putTask(member);
    const reply = await list(surface, { user: elsewhere.accountId });
    expect([reply.body["total"], uids(reply)]).toEqual([1, [task.id]]);
  });

  test.each(Object.entries(surfaces))("refuses every broken rule: %s", async (_name, surface) => {
    const invalidBodies: JsonObject[] = [
      { user: "" },
      { user: "x".repeat(255) },
      { user: rig.bo.email, page: 0 },
      { user: rig.bo.email, page: -1 },
      { user: rig.bo.email, page_size: 0 },
      { user: rig.bo.email, page_size: 1001 },
      { user: rig.bo.email, start_time: "2031-01-02T00:00:00Z", end_time: "2031-01-01T00:00:00Z" },
    ];
    for (const body of invalidBodies)
      expect(await list(surface, body), JSON.stringify(body)).toMatchObject(
        refusal(surface, "invalid_argument"),
      );
  });

  test("has no default page on v1, and has one on v2", async () => {
    for (const surface of Object.values(surfaces)) {
      const reply = await surface.call(rig.service.url, "ListTasks", { user: rig.bo.email }, rig.headers);
      if (surface.version === 1) expect(reply).toMatchObject(refusal(surface, "invalid_argument"));
      else expect(reply.body).toMatchObject({ total: 0 });
    }
  });

  test("returns an empty page for a page number after the last page", async () => {
    const reply = await list(surfaces["v1 plain JSON"] as Surface, { user: rig.bo.email, page: 2 ** 31 - 1 });
    expect(reply.body).toEqual({ records: [], total: 0 });
  });

  test("answers a GET with a query on v2, with times, numbers and booleans as text", async () => {
    const member = await rig.addMember();
    const task = await rig.putTask(member, { createdAt: 1_700_000_000_000 });
    await rig.store.change((tx) => tx.tasks.tombstone(task.id, 1_700_000_001_000, false));
    const query = {
      user: member.email,
      page: "1",
      page_size: "5",
      start_time: "2023-11-14T22:13:20Z",
      end_time: "2023-11-14T22:13:21.5Z",
    };
    const get = async (more: object) =>
      (await rig.owner.v2("enterprise.task.list", { ...query, ...more }, { method: "GET" })).body;
    expect(await get({ include_deleted: "true" })).toMatchObject({
      ok: true,
      total: 1,
      records: [{ task_uid: task.id, is_deleted: true }],
    });
    expect(await get({ include_deleted: "false" })).toMatchObject({ ok: true, total: 0 });
    expect(await get({ start_time: "yesterday" })).toMatchObject({
      ok: false,
      error: { code: "invalid_argument" },
    });
    expect(await get({ include_deleted: "yes" })).toMatchObject({
      ok: false,
      error: { code: "invalid_argument" },
    });
  });
});
