import { afterAll, beforeAll, expect, test } from "vitest";
import { BudgetKind } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { createSkill, ofProject } from "../skills/skills-rig.ts";
import { describeOnPostgres, openTestStore, rowsIn, type TestStore } from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";

describeOnPostgres("a project that is deleted while it gets a skill and a budget", (database) => {
  let db: TestStore;
  let service: Service;
  beforeAll(async () => {
    db = await openTestStore(database);
    service = await openService({ over: db, idle: true });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });

  test("leaves neither of them", async () => {
    const ann = await service.person();
    const create = async () =>
      String((await ann.v2("project.create", { name: "Garden" })).body["project"].id);
    const projects = await Promise.all(Array.from({ length: 8 }, create));
    const budgets = ann.client(BudgetService);
    await Promise.allSettled(
      projects.flatMap((project_id) => [
        createSkill(ann, "Weeding", ofProject(project_id)),
        budgets.setBudget({ kind: BudgetKind.PROJECT, subject: project_id, credits: 5n }),
        ann.v2("project.delete", { project_id }),
      ]),
    );
    expect((await ann.v2("project.list")).body["data"]).toEqual([]);
    expect((await budgets.listBudgets({})).data).toEqual([]);
    expect(
      await rowsIn(db.url, "SELECT id FROM skill WHERE deleted_at IS NULL AND project_id IS NOT NULL"),
    ).toEqual([]);
  });

  test.skipIf(database === "sqlite")(
    "waits for a change that has locked it, and a change that waits for the deletion finds no project",
    async () => {
      const ann = await service.person();
      const id = String((await ann.v2("project.create", { name: "Garden" })).body["project"].id);
      const order: string[] = [];
      const held = Promise.withResolvers<void>();
      const locked = Promise.withResolvers<void>();
      const holding = db.store.change(async (tx) => {
        expect(await tx.projects.lock(ann, id)).not.toBeNull();
        locked.resolve();
        await held.promise;
        order.push("released");
      });
      await locked.promise;
      const deleting = ann.v2("project.delete", { project_id: id }).then(() => order.push("deleted"));
      // The deletion waits in the database as soon as it has a lock to wait for.
      const waiting = async () =>
        (await rowsIn(db.url, "SELECT 1 FROM pg_locks WHERE NOT granted")).length > 0;
      while (!(await waiting())) await new Promise(setImmediate);
      held.resolve();
      await Promise.all([holding, deleting]);
      expect(order).toEqual(["released", "deleted"]);
      expect(await db.store.change((tx) => tx.projects.lock(ann, id))).toBeNull();
      expect(await db.store.change((tx) => tx.projects.lockIn(ann.spaceId, id))).toBe(false);
    },
  );
});
