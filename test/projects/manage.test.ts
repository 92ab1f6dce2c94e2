import { expect, test } from "vitest";
import { BudgetKind } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { settingsRig } from "../settings/settings-rig.ts";
import { createSkill, listSkillNames, ofProject } from "../skills/skills-rig.ts";
import { sampleTask } from "../store/samples.ts";
import { describeOnOne, rowsIn, runOn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { runJobs } from "../support/timed-jobs.ts";
import { tokenOf } from "../support/token.ts";

const createProject = async (person: Person, more: object = {}): Promise<string> =>
  (await person.v2("project.create", { name: "Garden", ...more })).body["project"].id;

describeOnOne("a project", (database) => {
  const rig = settingsRig(database);

  test("is returned with its current name and instruction, which change each alone", async () => {
    const ann = await rig.person();
    const project_id = await createProject(ann, { instruction: "Be brief." });
    const { body: created } = await ann.v2("project.detail", { project_id }, { method: "GET" });
    expect(created["project"]).toEqual({
      id: project_id,
      name: "Garden",
      instruction: "Be brief.",
      created_at: expect.any(Number),
    });

    const renamed = { ...created["project"], name: "Pond" };
    const changed = { ...renamed, instruction: "Answer in verse." };
    const { instruction: _, ...bare } = renamed;
    for (const [edit, project] of [
      [{ name: "Pond" }, renamed],
      [{ instruction: "Answer in verse." }, changed],
      [{ instruction: "" }, bare],
    ] as const) {
      const { status, body } = await ann.v2("project.update", { project_id, ...edit });
      expect([status, body]).toEqual([200, { ok: true, request_id: expect.any(String), project }]);
      expect((await ann.v2("project.detail", { project_id })).body["project"]).toEqual(project);
      expect((await ann.v2("project.list")).body["data"]).toEqual([project]);
    }
    expect(await rig.auditRow("project.v2.ProjectService/UpdateProject", project_id)).toMatchObject({
      outcome: "done",
    });
  });

  test.each([
    ["no change", {}, "name, instruction or permissions is required"],
    ["an empty name", { name: "" }, "name: must not be empty"],
    ["a name of 256 characters", { name: "🌱".repeat(256) }, "name: must be at most 255 characters"],
    [
      "an instruction of 20,001 characters",
      { instruction: "x".repeat(20_001) },
      "instruction: must be at most 20000 characters",
    ],
  ])("is not changed by a request with %s", async (_what, edit, message) => {
    const ann = await rig.person();
    const project_id = await createProject(ann);
    const { status, body } = await ann.v2("project.update", { project_id, ...edit });
    expect([status, body.error]).toMatchObject([400, { code: "invalid_argument", message }]);
    expect((await ann.v2("project.detail", { project_id })).body["project"].name).toBe("Garden");
  });

  test("of another account, of another space and a deleted one are not found, also for an admin of the team", async () => {
    const ann = await rig.person();
    const project_id = await createProject(ann);
    const deleted = await createProject(ann);
    await ann.v2("project.delete", { project_id: deleted });
    const others = [
      await rig.person({ with: ann, role: "admin" }),
      await rig.person({ as: ann }),
      await rig.person(),
    ];
    const calls = [
      ...others.map((person) => [person, project_id] as const),
      [ann, deleted] as const,
      [ann, "unknown"] as const,
    ];
    for (const [person, id] of calls)
      for (const [operation, more] of [
        ["project.detail", {}],
        ["project.update", { name: "Mine" }],
        ["project.delete", {}],
      ] as const) {
        const { status, body } = await person.v2(operation, { project_id: id, ...more });
        expect([status, body.error]).toMatchObject([
          404,
          { code: "not_found", message: "project not found" },
        ]);
      }
    expect((await ann.v2("project.detail", { project_id })).body["project"].name).toBe("Garden");
  });

  test("is managed by a token with create_project, and not by one without a scope for projects", async () => {
    const ann = await rig.person();
    const project_id = await createProject(ann);
    const token = await tokenOf(rig.service, ann, { scopes: ["create_project"] });
    expect(await token.v2("project.update", { project_id, name: "Pond" })).toMatchObject({ status: 200 });
    const other = await tokenOf(rig.service, ann, { scopes: ["create_task"] });
    for (const operation of ["project.detail", "project.update", "project.delete"])
      expect(await other.v2(operation, { project_id, name: "Mine" })).toMatchObject({ status: 403 });
    expect(await token.v2("project.delete", { project_id })).toMatchObject({ status: 200 });
  });

  test("is deleted with its skills, their bytes, its default connectors and its budgets, and no other", async () => {
    const ann = await rig.person();
    const [project_id, other] = [await createProject(ann), await createProject(ann)];
    const before = await rig.service.store.blobs.usedBytes(ann.accountId);
    await createSkill(ann, "Weeding", ofProject(project_id));
    await createSkill(ann, "Mowing", ofProject(other));
    const uid = "bbb0df76-66bd-4a24-ae4f-2aac4750d90b";
    for (const projectId of [project_id, other])
      await runOn(
        rig.db.url,
        `INSERT INTO project_connector (project_id, uid, space_id) VALUES ('${projectId}', '${uid}', '${ann.spaceId}')`,
      );
    const budgets = ann.client(BudgetService);
    for (const subject of [project_id, other])
      await budgets.setBudget({ kind: BudgetKind.PROJECT, subject, credits: 5n });

    expect(await ann.v2("project.delete", { project_id })).toMatchObject({ status: 200, body: { ok: true } });

    expect((await ann.v2("project.list")).body["data"].map(({ id }: { id: string }) => id)).toEqual([other]);
    expect(await ann.v2("skill.list", { project_id })).toMatchObject({ status: 404 });
    expect(await listSkillNames(ann, { project_id: other })).toEqual(["Mowing"]);
    expect(await rig.service.store.connectors.defaultsOf(project_id)).toEqual([]);
    expect(await rig.service.store.connectors.defaultsOf(other)).toEqual([uid]);
    expect((await budgets.listBudgets({})).data.map(({ subject }) => subject)).toEqual([other]);
    const stored = await rowsIn(
      rig.db.url,
      `SELECT name, instruction FROM project WHERE id = '${project_id}'`,
    );
    expect(stored).toEqual([{ name: "", instruction: "" }]);
    const row = await rig.auditRow("project.v2.ProjectService/DeleteProject", project_id);
    expect(JSON.stringify(row)).toContain('\\"skills\\":1');
    await ann.v2("project.delete", { project_id: other });
    expect(await rig.service.store.blobs.usedBytes(ann.accountId)).toBe(before);
  });

  test("frees its place in a space that has a thousand", async () => {
    const ann = await rig.person();
    const project_id = await createProject(ann);
    await rig.service.store.change(async (tx) => {
      const project = await tx.projects.find(ann, project_id);
      if (!project) throw new Error("no project");
      for (let n = 1; n < 1000; n++) await tx.projects.insert({ ...project, id: `${project_id}-${n}` });
    });
    expect(await ann.v2("project.create", { name: "One more" })).toMatchObject({ status: 429 });
    await ann.v2("project.delete", { project_id });
    expect(await ann.v2("project.create", { name: "One more" })).toMatchObject({ status: 200 });
  });
});

describeOnOne("the tasks of a deleted project", (database) => {
  const clock = stillClock(quarterPast);
  const rig = settingsRig(database, { clock });

  test("become standard tasks, however many there are, and the tombstone is purged after the last one", async () => {
    const { store } = rig.service;
    const ann = await rig.person();
    const [project_id, other] = [await createProject(ann), await createProject(ann)];
    const { body } = await ann.v2("task.create", { message: { content: "Go" }, project_id });
    const put = (projectId: string, count: number) =>
      store.change(async (tx) => {
        const { accountId, spaceId } = ann;
        for (let n = 0; n < count; n++)
          await tx.tasks.insert(sampleTask({ accountId, spaceId, projectId, type: "project" }), []);
      });
    await put(project_id, 1_100);
    await put(other, 3);
    await ann.v2("project.delete", { project_id });
    // A round that is stopped ends after its first batch of 500.
    for (let round = 0; round < 3; round++) await runJobs(store, clock);
    const types = await rowsIn(
      rig.db.url,
      "SELECT type, COUNT(*) AS count FROM task WHERE agent_id IS NULL GROUP BY type ORDER BY type",
    );
    expect(types.map(({ type, count }) => [type, Number(count)])).toEqual([
      ["project", 3],
      ["standard", 1_101],
    ]);
    expect((await store.tasks.byId(body["task_id"]))?.projectId).toBeNull();
    expect(
      (await ann.v2("task.list", { scope: "standard" })).body["data"].map(({ id }: { id: string }) => id),
    ).toContain(body["task_id"]);
    const tombstones = () => rowsIn(rig.db.url, `SELECT id FROM project WHERE id = '${project_id}'`);
    expect(await tombstones()).toHaveLength(1);

    // A task that was created at the same time commits after the deletion.
    clock.step(3_600_001);
    await put(project_id, 1);
    await runJobs(store, clock);
    await runJobs(store, clock);
    expect(await tombstones()).toHaveLength(0);
    expect(await rowsIn(rig.db.url, `SELECT id FROM task WHERE project_id = '${project_id}'`)).toHaveLength(
      0,
    );
  });
});
