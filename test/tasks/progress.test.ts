import { expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import type { Calling } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import type { V2Body } from "../support/wires.ts";

describeOnOne("progress of a task", (database) => {
  const rig = taskRig({ database, idle: true });
  const read = async (task_id: string) => (await rig.ann.v2("task.detail", { task_id })).body["task"];
  const listed = async (task_id: string) =>
    (await rig.ann.v2("task.list", { limit: 100 })).body["data"].find(
      ({ id }: { id: string }) => id === task_id,
    );
  const advance = (id: string, step: Omit<Parameters<typeof rig.service.store.tasks.advance>[1], "now">) =>
    rig.service.store.change((tx) => tx.tasks.advance(id, { now: 1, ...step }));

  test("is that of the latest status and plan, in task.detail and task.list", async () => {
    const id = await rig.create("Go");
    const running = { status: "running", brief: "Working on it", last_seq: 2 };
    expect(await read(id)).toMatchObject(running);
    expect(await read(id)).not.toHaveProperty("plan_progress");
    expect(await read(id)).not.toHaveProperty("outcome");
    const steps = (["done", "failed", "doing"] as const).map((status) => ({ status, title: status }));
    await advance(id, { events: [{ type: "plan_update", payload: { steps } }] });
    const planned = { ...running, plan_progress: { done: 1, total: 3 }, last_seq: 3 };
    expect(await read(id)).toMatchObject(planned);
    expect(await listed(id)).toEqual(await read(id));
  });

  test("names the event that a task waits for, until it waits no more", async () => {
    const id = await rig.create("Go");
    const statusDetail = { waitingForEventType: "messageAskUser", waitingDescription: "Which?" };
    await advance(id, {
      set: { status: "waiting" },
      events: [
        { type: "explanation", payload: { content: "Hm" } },
        { type: "assistant_message", payload: { content: "Which?" } },
        { type: "status_update", payload: { agentStatus: "waiting", brief: "Waiting", statusDetail } },
      ],
    });
    const { body } = await rig.ann.v2("task.listMessages", { task_id: id, limit: 1 });
    const { status_detail } = body["messages"][0].status_update;
    expect(status_detail).toMatchObject({ waiting_for_event_id: `ev_${id}_4` });
    expect(await read(id)).toMatchObject({ status: "waiting", brief: "Waiting", status_detail });
    await rig.ann.v2("task.stop", { task_id: id });
    expect(await read(id)).not.toHaveProperty("status_detail");
  });

  test("says whether a task was finished, stopped or failed", async () => {
    const id = await rig.create("Go");
    const end = (agentStatus: "stopped" | "error") =>
      advance(id, {
        set: { status: agentStatus },
        events: [{ type: "status_update", payload: { agentStatus, brief: "End" } }],
      });
    await rig.ann.v2("task.stop", { task_id: id });
    expect(await read(id)).toMatchObject({ outcome: "stopped", brief: "Stopped by the user" });
    await end("stopped");
    expect(await read(id)).toMatchObject({ outcome: "finished" });
    await end("error");
    expect(await read(id)).toMatchObject({ outcome: "failed" });
  });

  test("of an older release, which changes only the status, is not shown", async () => {
    const id = await rig.create("Go");
    await advance(id, { set: { status: "stopped" } });
    const task = await read(id);
    for (const member of ["brief", "status_detail", "outcome"]) expect(task).not.toHaveProperty(member);
  });

  // spec/decisions.md 60
  test("and its creators are shown to an app only as far as they concern it", async () => {
    const project_id = (await rig.ann.v2("project.create", { name: "Garden" })).body["project"].id;
    const mine = await rig.create("Go", { project_id });
    expect(await read(mine)).toMatchObject({ project_id, created_by: { account_id: rig.ann.accountId } });
    const [one, all] = [
      await tokenOf(rig.service, rig.ann),
      await tokenOf(rig.service, rig.ann, { scopes: ["manage_all_tasks"] }),
    ];
    const theirs = await rig.create("Go", {}, { ...rig.ann, ...one });
    const seenBy = async ({ v2 }: Calling, task_id: string) =>
      (await v2("task.detail", { task_id })).body["task"];
    const created_by_app = { client_id: one.clientId, name: expect.any(String) };
    expect(await seenBy(one, theirs)).toMatchObject({ created_by_app });
    expect(await read(theirs)).toMatchObject({
      created_by_app,
      created_by: { account_id: rig.ann.accountId },
    });
    expect(await seenBy(one, theirs)).not.toHaveProperty("created_by");
    expect(await seenBy(all, theirs)).not.toHaveProperty("created_by_app");
    expect(await seenBy(all, mine)).toMatchObject({ project_id });
  });

  test("does not matter for a list of several states", async () => {
    const [id = "", other = ""] = [await rig.create("Go"), await rig.create("Go")];
    await rig.ann.v2("task.stop", { task_id: other });
    const idsIn = async (query: object) =>
      (await rig.ann.v2("task.list", { limit: 100, ...query })).body["data"].map(
        (task: { id: string }) => task.id,
      );
    expect(await idsIn({ statuses: ["running", "error"] })).toContain(id);
    expect(await idsIn({ statuses: ["running", "error"] })).not.toContain(other);
    expect(await idsIn({ statuses: ["stopped", "running"] })).toEqual(expect.arrayContaining([id, other]));
    expect(await idsIn({ statuses: ["waiting"], status: "running" })).toEqual([]);
  });
});

describeOnOne("a task of a project", (database) => {
  const rig = taskRig({ database, idle: true });
  const newProject = async (who = rig.ann): Promise<string> =>
    (await who.v2("project.create", { name: "Garden" })).body["project"].id;
  const move = (task_id: string, project_id: string, who: Calling = rig.ann) =>
    who.v2("task.update", { task_id, project_id });

  test("moves to another project, and out of it", async () => {
    const [from, to] = [await newProject(), await newProject()];
    const id = await rig.create("Go", { project_id: from });
    expect((await move(id, to)).status).toBe(200);
    expect(await rig.row(id)).toMatchObject({ projectId: to, type: "project" });
    expect((await move(id, "")).status).toBe(200);
    expect(await rig.row(id)).toMatchObject({ projectId: null, type: "standard" });
  });

  test("does not move to an unknown, a deleted or another person's project, nor by an app without a scope for projects", async () => {
    const id = await rig.create("Go");
    const deleted = await newProject();
    await rig.ann.v2("project.delete", { project_id: deleted });
    const foreign = await newProject(await rig.service.person({ with: rig.ann }));
    const app = await tokenOf(rig.service, rig.ann);
    const ofApp = await rig.create("Go", {}, { ...rig.ann, ...app });
    const refused = { status: 404, body: { error: { code: "not_found" } } };
    for (const project of ["unknown", deleted, foreign])
      expect(await move(id, project)).toMatchObject(refused);
    for (const project of [await newProject(), ""])
      expect(await move(ofApp, project, app)).toMatchObject(refused);
    expect(await move("agent-default-main_task", await newProject())).toMatchObject({ status: 412 });
  });

  test("counts on the pages of a list of projects, but not for an app that sees only its tasks", async () => {
    const who = await rig.service.person();
    const ids = [await newProject(who), await newProject(who), await newProject(who)];
    for (const project_id of [ids[0], ids[0], ids[2]]) await rig.create("Go", { project_id }, who);
    const page = async (query: object, caller: Calling = who) =>
      (await caller.v2("project.list", query)).body;
    const counts = (body: V2Body) =>
      body["data"].map(({ task_count }: { task_count?: number }) => task_count);
    const first = await page({ page_size: 2, include_task_counts: true });
    const second = await page({ page_size: 2, include_task_counts: true, page_cursor: first["next_cursor"] });
    expect([...first["data"], ...second["data"]].map(({ id }) => id)).toEqual(
      (await page({}))["data"].map(({ id }: { id: string }) => id),
    );
    expect([first["has_more"], second["has_more"]]).toEqual([true, false]);
    expect([...counts(first), ...counts(second)].toSorted()).toEqual([0, 1, 2]);
    const app = await tokenOf(rig.service, who, { scopes: ["create_project"] });
    expect(counts(await page({ page_size: 3, include_task_counts: true }, app))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    for (const query of [
      { page_cursor: "x" },
      { include_task_counts: true },
      { page_size: 101 },
      { page_size: 2, page_cursor: "x" },
    ])
      expect(await page(query)).toMatchObject({ error: { code: "invalid_argument" } });
  });
});
