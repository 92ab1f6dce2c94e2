import { beforeAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { grant, refund } from "../../src/core/usage/credits.ts";
import { BudgetKind } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";

const forbidden = { status: 403, body: { ok: false, error: { code: "permission_denied" } } };
const today = (): number => Math.floor(Date.now() / 86_400_000) * 86_400;

describeOnOne("usage", (database) => {
  const rig = taskRig({ database, env: { CREDITS: "5000", DELETED_TASK_DAYS: "1" } });
  let owner: Person;
  let member: Person;
  let guest: Person;
  const ids: Record<string, string> = {};
  const spend = async (who: Person, credits: number): Promise<string> =>
    rig.runToEnd(`[[credits ${credits}]]`, {}, who);
  /** Each in another millisecond: the records of one have no order in time. */
  let made = 0;
  const making = () => {
    made += 1;
    return { now: Date.now() + made, ids: systemIds };
  };

  beforeAll(async () => {
    owner = await rig.service.person();
    member = await rig.service.person({ with: owner });
    guest = await rig.service.person({ with: owner, role: "guest" });
    ids["first"] = await spend(owner, 30);
    ids["second"] = await spend(owner, 12);
    ids["third"] = await spend(owner, 5);
    ids["member"] = await spend(member, 100);
    await rig.runToEnd("Costs nothing", {}, owner);
  });

  test("has one record per task, the latest change first, with the user who spent it", async () => {
    const { status, body } = await owner.v2("usage.list");
    expect(status).toBe(200);
    expect(body["data"]).toMatchObject([
      { task_id: ids["third"], credits: -5, type: "cost" },
      { task_id: ids["second"], credits: -12, type: "cost" },
      { task_id: ids["first"], credits: -30, type: "cost" },
    ]);
    expect(body["has_more"]).toBe(false);
    expect(body["data"][0]).toMatchObject({
      title: expect.stringContaining("credits 5"),
      collaborate_infos: [
        { user_id: owner.accountId, user_name: expect.stringContaining("@example.com"), credits: -5 },
      ],
    });
    const { body: detail } = await owner.v2("task.detail", { task_id: ids["first"] });
    expect(detail["task"]).toMatchObject({ credit_usage: 30 });
    expect(
      (await owner.v2("task.detail", { task_id: await rig.runToEnd("Free", {}, owner) })).body["task"],
    ).not.toHaveProperty("credit_usage");
  });

  test("has pages by cursor, valid only for this list of this caller", async () => {
    const taskIds: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await owner.v2("usage.list", { limit: 1, ...(cursor && { cursor }) });
      taskIds.push(...body["data"].map(({ task_id }: { task_id: string }) => task_id));
      cursor = body["next_cursor"];
      expect(body["has_more"]).toBe(cursor !== undefined);
    } while (cursor);
    expect(taskIds).toEqual([ids["third"], ids["second"], ids["first"]]);
    const { body } = await owner.v2("usage.list", { limit: 1 });
    expect(await member.v2("usage.list", { cursor: body["next_cursor"] })).toMatchObject(invalid("cursor"));
    expect(await owner.v2("usage.teamLog", { cursor: body["next_cursor"] })).toMatchObject(invalid("cursor"));
    for (const limit of [0, 101])
      expect(await owner.v2("usage.list", { limit })).toMatchObject(invalid("limit"));
  });

  test("has every day of a range in UTC: for leaders the whole team, for others only their own", async () => {
    const days = async (who: Person, query = {}) => (await who.v2("usage.teamStatistic", query)).body["data"];
    const all = await days(owner);
    expect(all).toHaveLength(30);
    expect(all.at(-1)).toEqual({ date: today(), credits: 147 });
    expect(all.slice(0, -1).every(({ credits }: { credits: number }) => credits === 0)).toBe(true);
    expect((await days(member)).at(-1)).toEqual({ date: today(), credits: 100 });
    expect((await days(guest)).at(-1)).toEqual({ date: today(), credits: 0 });
    for (const role of ["admin", "super_admin"] as const)
      expect((await days(await rig.service.person({ with: owner, role }))).at(-1)).toMatchObject({
        credits: 147,
      });
    expect(await days(owner, { start_date: today() - 86_400, end_date: today() + 5 })).toEqual([
      { date: today() - 86_400, credits: 0 },
      { date: today(), credits: 147 },
    ]);
    const date = (second: number) => new Date(second * 1000).toISOString().slice(0, 10);
    const byDates = { start_date: date(today() - 86_400), end_date: date(today()) };
    expect(await days(owner, byDates)).toEqual(
      await days(owner, { start_date: today() - 86_400, end_date: today() }),
    );
    const inQuery = await owner.v2("usage.teamStatistic", byDates, { method: "GET" });
    expect(inQuery.body["data"]).toHaveLength(2);
    for (const start_date of ["2026-02-30", "yesterday", "", "2026-01-01T00:00:00Z"])
      expect(await owner.v2("usage.teamStatistic", { start_date })).toMatchObject(
        invalid("start_date: must be Unix seconds, or a date like 2026-01-31"),
      );
    expect(await owner.v2("usage.teamStatistic", { start_date: 10, end_date: 9 })).toMatchObject(
      invalid("end_date"),
    );
    expect(await owner.v2("usage.teamStatistic", { start_date: 0, end_date: 366 * 86_400 })).toMatchObject(
      invalid("366 days"),
    );
    expect(await days(owner, { start_date: 0, end_date: 366 * 86_400 - 1 })).toHaveLength(366);
  });

  test("has every member, sorted and paged as requested; a member sees only the own row", async () => {
    const log = async (who: Person, query = {}) => (await who.v2("usage.teamLog", query)).body;
    const named = (rows: readonly { user_id: string }[]) => rows.map(({ user_id }) => user_id);
    const { data } = await log(owner, { limit: 2 });
    expect(data).toMatchObject([
      {
        user_id: owner.accountId,
        task_count: 3,
        credits: 47,
        email: expect.stringContaining("@example.com"),
      },
      { user_id: member.accountId, task_count: 1, credits: 100 },
    ]);
    const byCredits = { sort_by: "credits", limit: 1 };
    const first = await log(owner, byCredits);
    expect(named(first["data"])).toEqual([member.accountId]);
    const second = await log(owner, { ...byCredits, cursor: first["next_cursor"] });
    expect(named(second["data"])).toEqual([owner.accountId]);
    expect(
      await owner.v2("usage.teamLog", { ...byCredits, is_asc: true, cursor: first["next_cursor"] }),
    ).toMatchObject(invalid("cursor"));
    const up = named((await log(owner, { sort_by: "credits", is_asc: true, limit: 100 }))["data"]);
    expect(up.slice(-2)).toEqual([owner.accountId, member.accountId]);
    expect(up).toContain(guest.accountId);
    expect((await log(member))["data"]).toMatchObject([
      { user_id: member.accountId, task_count: 1, credits: 100 },
    ]);
    expect(
      (await log(owner, { start_date: 0, end_date: 86_400 }))["data"].every(
        ({ credits }: { credits: number }) => credits === 0,
      ),
    ).toBe(true);
  });

  test("is separate in each space of a person, and a personal space has no team", async () => {
    const home = await rig.service.person({ as: owner, personal: true });
    expect((await home.v2("usage.list")).body["data"]).toEqual([]);
    expect(await home.v2("usage.teamStatistic")).toMatchObject(forbidden);
    expect(await home.v2("usage.teamLog")).toMatchObject(forbidden);
    const id = await spend(home, 3);
    expect((await home.v2("usage.list")).body["data"]).toMatchObject([
      { task_id: id, credits: -3, collaborate_infos: [] },
    ]);
    const stranger = await rig.service.person();
    expect((await stranger.v2("usage.list")).body["data"]).toEqual([]);
    expect((await stranger.v2("usage.teamLog")).body["data"]).toMatchObject([
      { user_id: stranger.accountId, credits: 0 },
    ]);
  });

  test("of a deleted task stays, with the specified title; that of a removed member too", async () => {
    const lost = await rig.service.person({ with: owner });
    const id = await spend(lost, 7);
    await lost.v2("task.delete", { task_id: id });
    expect((await lost.v2("usage.list")).body["data"]).toMatchObject([
      { task_id: id, title: "Deleted conversation", credits: -7 },
    ]);
    const { body } = await owner.v2("team.user.list", { limit: 100 });
    const { email } = (await lost.v2("usage.teamLog")).body["data"][0];
    const gone = body["users"].find((user: { email: string }) => user.email === email);
    expect((await owner.v2("team.user.remove", { team_user_id: gone.team_user_id })).status).toBe(200);
    const rows = (await owner.v2("usage.teamLog", { limit: 100 })).body["data"];
    expect(rows.find(({ user_id }: { user_id: string }) => user_id === lost.accountId)).toMatchObject({
      credits: 7,
      task_count: 1,
      email,
    });
  });

  test("of a key is the cost of the tasks that it created, less refunds", async () => {
    const who = await rig.service.person();
    const ofKey = async () => (await who.v2("usage.breakdown", { group_by: "key" })).body["data"];
    const id = await spend(who, 20);
    expect(await ofKey()).toMatchObject([{ id: who.keyId, task_count: 1, credits: 20 }]);
    await rig.service.store.change((tx) => refund(tx, making(), id, 15));
    await rig.service.store.change((tx) => grant(tx, making(), who, 100));
    expect(await ofKey()).toMatchObject([{ id: who.keyId, task_count: 1, credits: 5 }]);
  });

  test("includes refunds and grants, and available credits are the configured number until there is a budget", async () => {
    const person = await rig.service.person();
    const colleague = await rig.service.person({ with: person });
    const available = async (who: Person) => (await who.v2("usage.availableCredits")).body["data"];
    expect(await available(person)).toEqual({
      ...{
        total_credits: 5000,
        free_credits: 5000,
        periodic_credits: 0,
        addon_credits: 0,
        pro_monthly_credits: 0,
      },
      ...{
        event_credits: 0,
        refresh_credits: 0,
        max_refresh_credits: 0,
        next_refresh_time: 0,
        refresh_interval: "",
      },
    });
    const id = await spend(person, 40);
    expect(await available(person)).toMatchObject({ total_credits: 5000 });
    const budgets = person.client(BudgetService);
    await budgets.setBudget({ kind: BudgetKind.TEAM, credits: 100n });
    for (const who of [person, colleague])
      expect(await available(who)).toMatchObject({ total_credits: 60, free_credits: 60 });
    await budgets.setBudget({ kind: BudgetKind.ACCOUNT, subject: person.accountId, credits: 50n });
    expect(await available(person)).toMatchObject({ total_credits: 10 });
    expect(await available(colleague)).toMatchObject({ total_credits: 60 });
    await rig.service.store.change((tx) => refund(tx, making(), id, 15));
    expect((await rig.row(id)).credits).toBe(25);
    expect((await person.v2("usage.list")).body["data"]).toMatchObject([{ credits: -25, type: "cost" }]);
    await rig.service.store.change((tx) => refund(tx, making(), id, null));
    await rig.service.store.change((tx) => grant(tx, making(), person, 20));
    expect((await person.v2("usage.list")).body["data"]).toMatchObject([
      { task_id: "", title: "Credit grant", credits: 20, type: "grant", collaborate_infos: [] },
      { task_id: id, credits: 0, type: "refund" },
    ]);
    expect(await available(person)).toMatchObject({ total_credits: 70 });
    expect(await available(colleague)).toMatchObject({ total_credits: 120 });
    await expect(rig.service.store.change((tx) => refund(tx, making(), id, 1))).rejects.toMatchObject({
      reason: "not_found",
    });
  });

  test("over a budget ends a task in error with quota_limit, and the next one does not start", async () => {
    const person = await rig.service.person();
    await person.client(BudgetService).setBudget({ kind: BudgetKind.TEAM, credits: 10n });
    const first = await rig.create("[[credits 11]] [[sleep 0]] [[forever]]", {}, person);
    expect(await rig.reach(first, "error")).toMatchObject({ credits: 11 });
    const second = await rig.create("Hello", {}, person);
    expect(await rig.reach(second, "error")).toMatchObject({ credits: 0 });
    const { body } = await person.v2("task.listMessages", { task_id: second, order: "asc" });
    const error = body["messages"].find(({ type }: { type: string }) => type === "error_message");
    expect(error).toMatchObject({ error_message: { error_type: "quota_limit" } });
    expect((await person.v2("usage.availableCredits")).body["data"]).toMatchObject({ total_credits: 0 });
  });
});
