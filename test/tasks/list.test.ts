import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { keyDigest, newKeyText } from "../../src/core/keys/api-key.ts";
import { noRestrictions } from "../../src/core/keys/restrictions.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { SortOrder, TaskScope } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { putApp } from "../support/oauth.ts";
import type { Person, Service } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { callV2 } from "../support/wires.ts";

const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);

describeOnOne("task.list", (database) => {
  const rig = taskRig({ database });
  const list = async (who: Person, query: object = {}) => (await who.v2("task.list", query)).body;

  /** Stores idle tasks, one for each time of creation; returns their ids in that order. */
  async function insertTasks(
    who: Person,
    times: readonly number[],
    other: Partial<Task> = {},
  ): Promise<string[]> {
    const model = {
      ...(await rig.row(await rig.runToEnd("hi", {}, who))),
      ...other,
      accountId: who.accountId,
      spaceId: who.spaceId,
    };
    const copies = times.map((createdAt) => ({ ...model, id: systemIds.short(), createdAt }));
    await rig.service.store.change(async (tx) => {
      for (const copy of copies) await tx.tasks.insert(copy, []);
      await tx.tasks.tombstone(model.id, 1, false);
    });
    return idsOf(copies);
  }

  /** All pages, with an action between them. */
  async function pages(
    who: Person,
    query: object,
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<string[][]> {
    const pageIds: string[][] = [];
    for (let cursor: string | undefined; ; ) {
      const body = await list(who, { ...query, ...(cursor ? { cursor } : {}) });
      pageIds.push(idsOf(body["data"]));
      expect(body["has_more"]).toBe(body["next_cursor"] !== undefined);
      if (!body["has_more"]) return pageIds;
      cursor = body["next_cursor"];
      await between();
    }
  }

  test("waiting tasks by their wait, only with their status", async () => {
    const ann = await rig.service.person();
    const ids = await insertTasks(ann, [1_000, 2_000], { status: "running" });
    await rig.service.store.change(async (tx) => {
      for (const id of ids) await tx.tasks.advance(id, { now: 5_999, set: { status: "waiting" } });
    });
    const waiting = (await list(ann, { order_by: "waiting_since", order: "asc", status: "waiting" }))["data"];
    expect(waiting.map(({ waiting_since: since }: { waiting_since: number }) => since)).toEqual([5, 5]);
    const [other] = (await list(ann, { status: "waiting" }))["data"];
    expect(other).not.toHaveProperty("waiting_since");
    for (const query of [{}, { statuses: ["waiting"] }, { status: "running" }])
      expect(await ann.v2("task.list", { order_by: "waiting_since", ...query })).toMatchObject(
        invalid("order_by: waiting_since needs status=waiting"),
      );
  });

  describe("pages", () => {
    let ben: Person;
    /** 45 tasks, oldest first; every three of them were created in one millisecond. */
    let expectedIds: string[];
    beforeAll(async () => {
      ben = await rig.service.person();
      const times = Array.from({ length: 45 }, (_, n) => 1_700_000_000_000 + Math.floor(n / 3));
      const ids = await insertTasks(ben, times);
      expectedIds = times
        .map((time, n) => ({ time, id: ids[n] ?? "" }))
        .toSorted((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id);
    });

    test("20 tasks, newest first, by default", async () => {
      const body = await list(ben);
      expect(body).toStrictEqual({
        ok: true,
        request_id: expect.any(String),
        data: expect.any(Array),
        has_more: true,
        next_cursor: expect.any(String),
      });
      expect(idsOf(body["data"])).toEqual(expectedIds.toReversed().slice(0, 20));
    });

    test.each([
      "asc",
      "desc",
    ])("each task exactly once and in order, for any page size, %s", async (order) => {
      const all = order === "asc" ? expectedIds : expectedIds.toReversed();
      for (const limit of [1, 2, 7, 44, 45, 46, 100])
        expect((await pages(ben, { order, limit })).flat()).toEqual(all);
    });

    test("the last page has no next_cursor, also when it is full", async () => {
      expect((await pages(ben, { limit: 15 })).map(({ length }) => length)).toEqual([15, 15, 15]);
    });

    test("another limit continues with the same cursor", async () => {
      const { next_cursor } = await list(ben, { limit: 4 });
      expect(idsOf((await list(ben, { limit: 6, cursor: next_cursor }))["data"])).toEqual(
        expectedIds.toReversed().slice(4, 10),
      );
    });

    test("an empty cursor counts as absent", async () => {
      expect(idsOf((await list(ben, { cursor: "" }))["data"])).toEqual(expectedIds.toReversed().slice(0, 20));
    });

    test("GET returns the same as POST", async () => {
      const { body } = await ben.v2(
        "task.list",
        { limit: "3", order: "asc", scope: "all" },
        { method: "GET" },
      );
      expect(idsOf(body["data"])).toEqual(expectedIds.slice(0, 3));
    });

    test.each(["connect-json", "grpc"] as const)("returns on %s the same as on v2", async (wire) => {
      const client = ben.client(TaskService, wire);
      const first = await client.listTasks({ limit: 30, order: SortOrder.ASC, scope: TaskScope.ALL });
      const second = await client.listTasks({
        limit: 30,
        order: SortOrder.ASC,
        scope: TaskScope.ALL,
        cursor: first.nextCursor ?? "",
      });
      expect([...idsOf(first.data), ...idsOf(second.data)]).toEqual(expectedIds);
      expect([first.hasMore, second.hasMore, second.nextCursor]).toEqual([true, false, undefined]);
      // One cursor works on all wires.
      expect(
        idsOf((await list(ben, { limit: 1, order: "asc", scope: "all", cursor: first.nextCursor }))["data"]),
      ).toEqual([expectedIds[30]]);
      await expect(client.listTasks({ cursor: "nonsense" })).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
      await expect(client.listTasks({ limit: 101 })).rejects.toMatchObject({ code: Code.InvalidArgument });
      await expect(client.listTasks({ scope: TaskScope.PROJECT })).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
    });
  });

  test.each(["asc", "desc"])("no task is repeated or skipped while others are created, %s", async (order) => {
    const who = await rig.service.person();
    const old = await insertTasks(who, [1, 1, 1, 2, 3, 4, 5, 5, 6, 7]);
    const expectedIds: string[] = [];
    const between = async () => expectedIds.length < 3 && expectedIds.push(await rig.create("hi", {}, who));
    const pageIds = (await pages(who, { order, limit: 2 }, between)).flat();
    expect(new Set(pageIds).size).toBe(pageIds.length);
    expect(pageIds.filter((id) => old.includes(id)).toSorted()).toEqual(old.toSorted());
    // Later ones are after the oldest first, and before the newest.
    expect(pageIds.filter((id) => !old.includes(id))).toEqual(order === "asc" ? expectedIds : []);
  });

  test("a list without tasks is an empty page", async () => {
    const body = await list(await rig.service.person());
    expect(body).toStrictEqual({ ok: true, request_id: expect.any(String), data: [], has_more: false });
  });

  test("shows each task as task.detail does", async () => {
    const who = await rig.service.person();
    const id = await rig.runToEnd("hi", { share_visibility: "team", agent_profile: "lite" }, who);
    const { body } = await who.v2("task.detail", { task_id: id });
    expect((await list(who))["data"]).toEqual([body["task"]]);
  });

  test("hidden tasks are listed: only the web app hides them", async () => {
    const who = await rig.service.person();
    const id = await rig.runToEnd("hi", { hide_in_task_list: true }, who);
    expect(idsOf((await list(who))["data"])).toEqual([id]);
  });

  test("deleted tasks are not listed, and pages continue without them", async () => {
    const who = await rig.service.person();
    const [first = "", second = "", third = ""] = await insertTasks(who, [1, 2, 3]);
    const { next_cursor } = await list(who, { order: "asc", limit: 1 });
    await who.v2("task.delete", { task_id: second });
    expect(idsOf((await list(who, { order: "asc", limit: 1, cursor: next_cursor }))["data"])).toEqual([
      third,
    ]);
    await who.v2("task.delete", { task_id: first });
    expect(idsOf((await list(who))["data"])).toEqual([third]);
  });

  describe("filters", () => {
    let cy: Person;
    let project: string;
    let alone: string;
    let inProject: string;
    let subtask: string;
    beforeAll(async () => {
      cy = await rig.service.person();
      project = (await cy.v2("project.create", { name: "Post" })).body["project"].id;
      alone = await rig.runToEnd("alone", {}, cy);
      inProject = await rig.runToEnd("in a project", { project_id: project }, cy);
      const other = (await cy.v2("project.create", { name: "Other" })).body["project"].id;
      await rig.runToEnd("in another", { project_id: other }, cy);
      [subtask = ""] = await insertTasks(cy, [1], { type: "agent_subtask" });
    });

    test("by scope and project", async () => {
      const of = async (query: object) => idsOf((await list(cy, query))["data"]);
      expect(await of({ scope: "standard" })).toEqual([alone]);
      expect(await of({ scope: "project", project_id: project })).toEqual([inProject]);
      expect(await of({ project_id: project })).toEqual([inProject]);
      expect(await of({ scope: "standard", project_id: project })).toEqual([]);
      expect(await of({ scope: "all" })).toHaveLength(4);
      expect(await of({ scope: "all" })).toContain(subtask);
      expect(await of({})).toEqual(await of({ scope: "all" }));
    });

    test("by state and by times in whole seconds, in a body and in a query", async () => {
      const dee = await rig.service.person();
      const [early, middle, late] = await insertTasks(dee, [10_000, 20_500, 30_999], { updatedAt: 50_500 });
      const [failed] = await insertTasks(dee, [40_000], { status: "error", updatedAt: 60_000 });
      for (const [query, expected] of [
        [{ status: "error" }, [failed]],
        [{ status: "stopped" }, [late, middle, early]],
        [{ created_after: 20 }, [failed, late]],
        [{ created_before: 30 }, [middle, early]],
        [{ created_after: 10, created_before: 30 }, [middle]],
        [{ updated_after: 50 }, [failed]],
        [{ updated_before: 51, status: "stopped", created_after: 29 }, [late]],
        [{ updated_before: 50 }, []],
      ] as const) {
        expect([query, idsOf((await list(dee, query))["data"])]).toEqual([query, expected]);
        const byQuery = await dee.v2("task.list", query, { method: "GET" });
        expect([query, idsOf(byQuery.body["data"])]).toEqual([query, expected]);
      }
    });

    test("by an agent: without subtasks the list is empty", async () => {
      for (const query of [
        { scope: "agent_subtask", agent_id: "agent-default" },
        { agent_id: "5f0c1d4e-0000-4000-8000-000000000000" },
      ]) {
        expect(await list(cy, query)).toMatchObject({ ok: true, data: [], has_more: false });
      }
    });

    test("by the app that created them, also in pages and with another filter", async () => {
      const owner = await rig.service.person();
      const [of, other] = [await putApp(rig.service, owner), await putApp(rig.service, owner)];
      await insertTasks(owner, [1_700_000_000_000], { clientId: other.app.clientId });
      await insertTasks(owner, [1_700_000_000_001]);
      const ids = await insertTasks(owner, [1_700_000_001_000, 1_700_000_002_000, 1_700_000_003_000], {
        clientId: of.app.clientId,
      });
      // spec/api.md 8.92, spec/decisions.md 110.
      const query = { created_by_app: of.app.clientId };
      expect((await pages(owner, { ...query, limit: 2 })).flat()).toEqual(ids.toReversed());
      expect(
        idsOf(
          (await list(owner, { ...query, status: "stopped", order_by: "updated_at" }))["data"],
        ).toSorted(),
      ).toEqual(ids.toSorted());
      expect((await list(owner, { created_by_app: "client_unknown" }))["data"]).toEqual([]);
      const token = await tokenOf(rig.service, owner, { of: other, scopes: ["create_task"] });
      expect((await token.v2("task.list", query)).body["data"]).toEqual([]);
    });

    test("by an unknown project or another account's: an empty list, without an error", async () => {
      const stranger = await rig.service.person();
      for (const id of ["nonsense", project])
        expect(await list(stranger, { scope: "project", project_id: id })).toMatchObject({ data: [] });
    });

    test("pages keep their filter", async () => {
      for (const title of ["b", "c"]) await rig.runToEnd(title, { project_id: project }, cy);
      const pageIds = await pages(cy, { scope: "project", project_id: project, limit: 1 });
      expect(pageIds.map(({ length }) => length)).toEqual([1, 1, 1]);
      expect(pageIds.flat()).toContain(inProject);
    });
  });

  test("a colleague's tasks are not listed, with any visibility", async () => {
    const colleague = await rig.service.person({ with: rig.ann, role: "member" });
    const id = await rig.runToEnd("hi", { share_visibility: "team" }, colleague);
    expect(idsOf((await list(rig.ann, { limit: 100 }))["data"])).not.toContain(id);
  });

  test("a key of another space of the same account lists that space's tasks", async () => {
    const who = await rig.service.person();
    const personal = await keyOfPersonalSpace(rig.service, who);
    const inTeam = await rig.runToEnd("hi", {}, who);
    const reply = await callV2(
      rig.service.url,
      "task.create",
      { message: { content: "hi" } },
      { headers: { "x-service-api-key": personal } },
    );
    const { body } = await callV2(
      rig.service.url,
      "task.list",
      {},
      { headers: { "x-service-api-key": personal } },
    );
    expect(idsOf(body["data"])).toEqual([reply.body["task_id"]]);
    expect(idsOf((await list(who))["data"])).toEqual([inTeam]);
  });

  describe("refuses", () => {
    test.each<[why: string, query: object, named: string]>([
      ["limit 0", { limit: 0 }, "limit"],
      ["limit 101", { limit: 101 }, "limit"],
      ["limit as text", { limit: "5" }, "limit"],
      ["a fractional limit", { limit: 1.5 }, "limit"],
      ["an unknown order", { order: "up" }, "order"],
      ["an unknown scope", { scope: "mine" }, "scope"],
      ["scope project without project_id", { scope: "project" }, "project_id"],
      ["scope project with an empty project_id", { scope: "project", project_id: "" }, "project_id"],
      ["scope agent_subtask without agent_id", { scope: "agent_subtask" }, "agent_id"],
      ["a project_id of a wrong type", { project_id: 5 }, "project_id"],
      ["a cursor of a wrong type", { cursor: 5 }, "cursor"],
      ["an invalid cursor", { cursor: "nonsense" }, "cursor"],
      ["a cursor of 1,025 characters", { cursor: "a".repeat(1025) }, "cursor"],
    ])("%s", async (_why, query, named) => {
      const reply = await rig.ann.v2("task.list", query);
      expect(reply).toMatchObject(invalid(named));
    });

    test("a cursor of another caller, order, filter or list, or with a changed character", async () => {
      const [dee, eve] = [await rig.service.person(), await rig.service.person()];
      for (const who of [dee, eve]) await insertTasks(who, [1, 2, 3]);
      const { next_cursor: cursor, data } = await list(dee, { limit: 1 });
      const { body: messages } = await rig.ann.v2("task.listMessages", {
        task_id: await rig.runToEnd(),
        limit: 1,
      });
      const changed = `${cursor.slice(0, 20)}${cursor[20] === "A" ? "B" : "A"}${cursor.slice(21)}`;
      const foreign: [Person, object][] = [
        [eve, { cursor }],
        [dee, { cursor, order: "asc" }],
        [dee, { cursor, scope: "standard" }],
        [dee, { cursor, project_id: data[0].id }],
        [dee, { cursor: cursor.slice(0, -1) }],
        [dee, { cursor: `${cursor}A` }],
        [dee, { cursor: changed }],
        [rig.ann, { cursor: messages["next_cursor"] }],
      ];
      for (const [who, query] of foreign) {
        expect(await who.v2("task.list", query)).toMatchObject(invalid("cursor"));
      }
      expect(await list(dee, { cursor })).toMatchObject({ ok: true, has_more: false });
    });

    test.each([
      "limit=0",
      "limit=abc",
      "limit=1e1",
      "order=up",
      "scope=project",
      "limit=1&limit=2",
    ])("GET with ?%s", async (query) => {
      const reply = await fetch(`${rig.service.url}/v2/task.list?${query}`, {
        headers: { "x-service-api-key": rig.ann.key },
      });
      expect(reply.status).toBe(400);
    });
  });
});

/** Creates a personal space for an account with a team, and returns a key of the space. */
async function keyOfPersonalSpace({ store }: Service, { accountId }: Person): Promise<string> {
  const [key, spaceId, createdAt] = [newKeyText(systemRandom), systemIds.short(), Date.now()];
  await store.change(async (tx) => {
    await tx.accounts.insertSpace({ id: spaceId, kind: "personal", createdAt, accountId });
    const more = {
      name: "personal",
      digest: keyDigest(key),
      createdAt,
      expiresAt: null,
      revokedAt: null,
      lastFour: null,
      ...noRestrictions,
    };
    await tx.keys.insert({ id: systemIds.short(), accountId, spaceId, kind: "general", ...more });
  });
  return key;
}
