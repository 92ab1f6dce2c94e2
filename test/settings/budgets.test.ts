import { beforeAll, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { keyKinds } from "../../src/core/accounts/caller.ts";
import { budgetsMax } from "../../src/core/usage/budget.ts";
import { BudgetKind, BudgetPeriod } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { appsOf, garden, outcomeOf, settingsRig } from "./settings-rig.ts";

describeOnOne("settings.v1.BudgetService", (database) => {
  const rig = settingsRig(database);
  let ann: Person;
  const budgets = (who: Person) => who.client(BudgetService);
  const team = { kind: BudgetKind.TEAM, credits: 100n };
  beforeAll(async () => {
    ann = await rig.person();
  });

  test("sets a budget for every subject, once per subject and period, and changes only its credits", async () => {
    const { body: task } = await ann.v2("task.create", { message: { content: "Go" } });
    const { body: project } = await ann.v2("project.create", { name: "Garden" });
    const { app } = await appsOf(ann).createOAuth2App(garden);
    const subjects = [
      { kind: BudgetKind.TASK, subject: String(task["task_id"]) },
      { kind: BudgetKind.PROJECT, subject: project["project"].id },
      { kind: BudgetKind.APP, subject: app?.clientId ?? "" },
      { kind: BudgetKind.ACCOUNT, subject: ann.accountId },
      { kind: BudgetKind.TEAM },
    ];
    for (const subject of subjects) {
      const { budget } = await budgets(ann).setBudget({
        ...subject,
        credits: 7n,
        period: BudgetPeriod.MONTH,
      });
      expect(budget).toMatchObject({
        kind: subject.kind,
        credits: 7n,
        spent: 0n,
        held: 0n,
        period: BudgetPeriod.MONTH,
      });
    }
    const { budget } = await budgets(ann).setBudget({
      kind: BudgetKind.TEAM,
      credits: 9n,
      period: BudgetPeriod.MONTH,
    });
    expect(budget).toMatchObject({ subject: ann.spaceId, credits: 9n });
    const { data } = await budgets(ann).listBudgets({});
    expect(data.map(({ kind }) => kind)).toEqual([
      BudgetKind.ACCOUNT,
      BudgetKind.APP,
      BudgetKind.PROJECT,
      BudgetKind.TASK,
      BudgetKind.TEAM,
    ]);
    const audit = await rig.auditRow("settings.v1.BudgetService/SetBudget", budget?.id);
    expect(audit).toMatchObject({ after: expect.stringContaining('"credits":7') });
    await budgets(ann).removeBudget({ id: budget?.id ?? "" });
    expect(await rig.auditRow("settings.v1.BudgetService/RemoveBudget", budget?.id)).toMatchObject({
      before: expect.stringContaining('"credits":9'),
    });
    expect(await outcomeOf(budgets(ann).removeBudget({ id: budget?.id ?? "" }))).toBe(
      "NotFound: budget not found",
    );
  });

  test("accepts the owner's session and general key, and an account's in its personal space, and no other", async () => {
    const session = (await ann.session()).client(BudgetService);
    const { budget } = await session.setBudget(team);
    expect((await session.listBudgets({})).data.length).toBeGreaterThan(0);
    const id = budget?.id ?? "";
    for (const kind of keyKinds.filter((name) => name !== "general")) {
      const other = budgets(await rig.person({ as: ann, with: ann, kind }));
      expect(await outcomeOf(other.setBudget(team))).toContain("PermissionDenied");
      expect(await outcomeOf(other.listBudgets({}))).toContain("PermissionDenied");
      expect(await outcomeOf(other.removeBudget({ id }))).toContain("PermissionDenied");
    }
    for (const role of roles.filter((name) => name !== "owner")) {
      const other = await rig.person({ with: ann, role });
      for (const client of [budgets(other), (await other.session()).client(BudgetService)]) {
        expect(await outcomeOf(client.setBudget(team))).toContain("PermissionDenied");
        expect(await outcomeOf(client.listBudgets({}))).toContain("PermissionDenied");
        expect(await outcomeOf(client.removeBudget({ id }))).toContain("PermissionDenied");
      }
    }
    await session.removeBudget({ id });
    const home = await rig.person({ as: ann, personal: true });
    expect(await outcomeOf(budgets(home).setBudget(team))).toBe("NotFound: subject: team not found");
    expect(
      (await budgets(home).setBudget({ kind: BudgetKind.ACCOUNT, subject: home.accountId, credits: 1n }))
        .budget?.credits,
    ).toBe(1n);
  });

  // spec/decisions.md 68
  test("shows every member the budgets of the own account, and no other", async () => {
    await budgets(ann).setBudget(team);
    for (const role of ["guest", "member"] as const) {
      const other = await rig.person({ with: ann, role });
      const { budget } = await budgets(ann).setBudget({
        kind: BudgetKind.ACCOUNT,
        subject: other.accountId,
        credits: 5n,
      });
      for (const client of [budgets(other), (await other.session()).client(BudgetService)])
        expect((await client.listOwnBudgets({})).data.map(({ id, credits }) => [id, credits])).toEqual([
          [budget?.id, 5n],
        ]);
    }
  });

  test("does not show other spaces", async () => {
    const { body: task } = await ann.v2("task.create", { message: { content: "Go" } });
    const { body: project } = await ann.v2("project.create", { name: "Shed" });
    const { app } = await appsOf(ann).createOAuth2App(garden);
    const { budget } = await budgets(ann).setBudget({ ...team, period: BudgetPeriod.DAY });
    const stranger = await rig.person();
    const foreign: readonly (readonly [BudgetKind, string, string])[] = [
      [BudgetKind.TASK, String(task["task_id"]), "task"],
      [BudgetKind.PROJECT, project["project"].id, "project"],
      [BudgetKind.APP, app?.clientId ?? "", "app"],
      [BudgetKind.ACCOUNT, ann.accountId, "account"],
    ];
    for (const [kind, subject, name] of foreign) {
      expect(await outcomeOf(budgets(stranger).setBudget({ kind, subject, credits: 1n }))).toBe(
        `NotFound: subject: ${name} not found`,
      );
      expect(await outcomeOf(budgets(stranger).setBudget({ kind, subject: "nothing", credits: 1n }))).toBe(
        `NotFound: subject: ${name} not found`,
      );
    }
    expect(await outcomeOf(budgets(stranger).removeBudget({ id: budget?.id ?? "" }))).toBe(
      "NotFound: budget not found",
    );
    expect((await budgets(stranger).listBudgets({})).data).toEqual([]);
  });

  test("refuses an invalid budget, and one over the limit", async () => {
    const someone = await rig.person();
    expect(await outcomeOf(budgets(someone).setBudget({ credits: 1n }))).toContain("InvalidArgument");
    expect(await outcomeOf(budgets(someone).setBudget({ ...team, credits: -1n }))).toContain(
      "InvalidArgument",
    );
    expect(await outcomeOf(budgets(someone).setBudget({ ...team, credits: 1_000_000_000_001n }))).toContain(
      "InvalidArgument",
    );
    const now = Date.now();
    const budget = {
      spaceId: someone.spaceId,
      period: "total",
      credits: 1,
      spent: 0,
      held: 0,
      since: 0,
      createdAt: now,
      updatedAt: now,
    } as const;
    await rig.service.store.change(async (tx) => {
      for (let i = 0; i < budgetsMax; i += 1)
        await tx.budgets.set({ ...budget, id: `${someone.spaceId}-${i}`, kind: "task", subject: `${i}` });
    });
    expect(await outcomeOf(budgets(someone).setBudget(team))).toContain("ResourceExhausted");
    const [row] = await rowsIn(
      rig.db.url,
      `SELECT COUNT(*) AS n FROM budget WHERE space_id = '${someone.spaceId}'`,
    );
    expect(Number(row?.["n"])).toBe(budgetsMax);
  });
});
