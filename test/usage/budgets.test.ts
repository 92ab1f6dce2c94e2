import { expect, test } from "vitest";
import { Failure } from "../../src/core/failure.ts";
import { systemIds } from "../../src/core/ids.ts";
import { releaseStale, reserve } from "../../src/core/usage/reserve.ts";
import type { Agent, Hold } from "../../src/runtime/agent.ts";
import { append } from "../../src/runtime/ending.ts";
import { newId } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { budgetRig, prices } from "./budget-rig.ts";

const thought = { type: "explanation", payload: { content: "Hm" } } as const;
const tokens = (inputTokens: number) => ({ inputTokens, outputTokens: 0, toolCalls: 0 });
const done = { kind: "finish", content: "Done" } as const;
/** As the model agent does when there is no room. */
const outOfRoom = { kind: "fail", errorType: "quota_limit", content: "The credits are used up." } as const;
const never = new AbortController().signal;

/** Calls a model, each time for five credits at most and three really, until there is no room. */
const greedy: Agent = async function* (turn) {
  for (;;) {
    let hold: Hold;
    try {
      hold = await turn.reserve(tokens(500));
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.reason === "exhausted") return outOfRoom;
      throw thrown;
    }
    yield { events: [thought], usage: tokens(300), settles: [hold] };
  }
};

/** Spends so many credits at once, without asking. */
const spending = (credits: number): Agent =>
  async function* () {
    yield { events: [thought], credits };
    // What is held back is written when the agent takes its time.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    yield { events: [thought] };
    return done;
  };

describeOnEach("a budget", (kind) => {
  const rig = budgetRig(kind);
  const space = () => ({ spaceId: newId("space"), accountId: newId("account") });
  const store = () => rig.db.store;
  const entries = (taskId: string) =>
    rowsIn(rig.db.url, `SELECT kind, credits, input_tokens FROM usage_entry WHERE task_id = '${taskId}' ORDER BY at, credits`);
  const holds = () => rowsIn(rig.db.url, "SELECT id FROM budget_hold");
  const reserving = (task: Parameters<typeof reserve>[1], atMost = tokens(500)) =>
    reserve({ store: store(), clock: rig.clock, ids: systemIds, prices }, task, atMost);

  test("of fifty runs at a time is not overspent by a credit, as all of them reserve what they take", async () => {
    const whose = space();
    const team = await rig.budget({ ...whose, kind: "team", subject: whose.spaceId, credits: 1000 });
    const account = await rig.budget({ ...whose, kind: "account", subject: whose.accountId, credits: 2000 });
    const tasks = await Promise.all(Array.from({ length: 50 }, () => rig.put(whose)));
    await Promise.all(tasks.map(async ({ id }) => rig.run(await rig.claim(id), greedy)));
    const rows = await Promise.all(tasks.map(({ id }) => rig.row(id)));
    const total = rows.reduce((sum, { credits }) => sum + credits, 0);
    expect(total % 3).toBe(0);
    // Whoever was refused found less room than a call may take at most, beside two holds of each run: one of the call before may not be settled yet.
    expect(total).toBeGreaterThan(1000 - 50 * 2 * 5);
    expect(total).toBeLessThanOrEqual(1000);
    expect(rows.map(({ status }) => status)).toEqual(rows.map(() => "error"));
    expect(await rig.seen(team.id)).toMatchObject({ spent: total, held: 0 });
    expect(await rig.seen(account.id)).toMatchObject({ spent: total, held: 0 });
    for (const { id } of tasks) expect(await rig.errors(id)).toEqual(["quota_limit"]);
  });

  test("that fifty runs overspend without asking is overspent by no more than what each had under way, and ends them all", async () => {
    const whose = space();
    const team = await rig.budget({ ...whose, kind: "team", subject: whose.spaceId, credits: 20 });
    const tasks = await Promise.all(Array.from({ length: 50 }, () => rig.put(whose)));
    await Promise.all(tasks.map(async ({ id }) => rig.run(await rig.claim(id), spending(7))));
    const rows = await Promise.all(tasks.map(({ id }) => rig.row(id)));
    const total = rows.reduce((sum, { credits }) => sum + credits, 0);
    expect(await rig.seen(team.id)).toMatchObject({ spent: total, held: 0 });
    expect(total).toBeLessThanOrEqual(20 + 50 * 9);
    expect(rows.filter(({ status }) => status === "error").length).toBeGreaterThanOrEqual(45);
  });

  test("that is spent lets no run begin: the task ends in error, with quota_limit, and costs nothing", async () => {
    const whose = space();
    await rig.budget({ ...whose, kind: "team", subject: whose.spaceId, credits: 0 });
    const { id } = await rig.put(whose);
    let begun = false;
    await rig.run(await rig.claim(id), async function* () {
      begun = true;
      yield { events: [thought] };
      return done;
    });
    expect(begun).toBe(false);
    expect(await rig.errors(id)).toEqual(["quota_limit"]);
    expect(await rig.row(id)).toMatchObject({ status: "error", credits: 0, nodeId: null });
    expect(await entries(id)).toEqual([]);
  });

  test("ends a run at its next step that used more than there was; what was used is written all the same", async () => {
    const whose = space();
    const { id } = await rig.put(whose);
    const budget = await rig.budget({ ...whose, kind: "task", subject: id, credits: 10 });
    await rig.run(await rig.claim(id), spending(11));
    expect(await rig.row(id)).toMatchObject({ status: "error", credits: 11 });
    expect(await rig.errors(id)).toEqual(["quota_limit"]);
    expect(await rig.seen(budget.id)).toMatchObject({ spent: 11 });
    expect(await entries(id)).toMatchObject([{ kind: "cost", credits: -11 }]);
  });

  test("counts what its task, project, app, account and team spend, and nothing of others", async () => {
    const whose = space();
    const { id } = await rig.put({ ...whose, projectId: "p", clientId: "c" });
    const of = (kind: "task" | "project" | "app" | "account" | "team", subject: string, spaceId = whose.spaceId) =>
      rig.budget({ spaceId, kind, subject, credits: 100 });
    const counted = await Promise.all([
      of("task", id),
      of("project", "p"),
      of("app", "c"),
      of("account", whose.accountId),
      of("team", whose.spaceId),
    ]);
    const others = await Promise.all([
      of("task", "other"),
      of("project", "q"),
      of("account", "other"),
      of("account", whose.accountId, newId("space")),
      of("project", "p", newId("space")),
    ]);
    await rig.run(await rig.claim(id), spending(4));
    // The turn costs two.
    for (const { id: budget } of counted) expect(await rig.seen(budget)).toMatchObject({ spent: 6, held: 0 });
    for (const { id: budget } of others) expect(await rig.seen(budget)).toMatchObject({ spent: 0 });
    // One that is made later begins with what was spent.
    expect(await rig.budget({ ...whose, kind: "account", subject: whose.accountId, period: "month", credits: 5 })).toMatchObject({
      spent: 6,
    });
  });

  test("begins anew with its day and its month; a total does not; what is held stays", async () => {
    const whose = space();
    rig.clock.set(Date.parse("2027-01-31T23:59:00Z"));
    const { id } = await rig.put(whose);
    const make = (period: "day" | "month" | "total") => rig.budget({ ...whose, kind: "team", subject: whose.spaceId, period, credits: 10 });
    const [day, month, total] = await Promise.all([make("day"), make("month"), make("total")]);
    await rig.run(await rig.claim(id), spending(8));
    for (const budget of [day, month, total]) expect(await rig.seen(budget.id)).toMatchObject({ spent: 10 });
    const second = await rig.put(whose);
    const claimed = await rig.claim(second.id);
    await expect(reserving(claimed)).rejects.toMatchObject({ reason: "exhausted" });
    rig.clock.set(Date.parse("2027-02-01T00:00:00Z"));
    // The total has no room still.
    await expect(reserving(claimed)).rejects.toMatchObject({ reason: "exhausted" });
    await store().change((tx) => tx.budgets.remove(whose.spaceId, total.id));
    await reserving(claimed);
    for (const budget of [day, month]) expect(await rig.seen(budget.id)).toMatchObject({ spent: 0, held: 5 });
    await reserving(claimed);
    await expect(reserving(claimed, tokens(1))).rejects.toMatchObject({ reason: "exhausted" });
  });

  test("has what a crashed run held again, once its task has another fence, and before only when the lease is over", async () => {
    const whose = space();
    const { id } = await rig.put(whose);
    const budget = await rig.budget({ ...whose, kind: "account", subject: whose.accountId, credits: 10 });
    const lost = await rig.claim(id);
    const hold = await reserving(lost);
    expect(hold).toMatchObject({ credits: 5 });
    await releaseStale(store(), rig.clock, never);
    expect(await rig.seen(budget.id)).toMatchObject({ held: 5 });
    // Another process takes the task over.
    await store().change((tx) => tx.tasks.advance(id, { now: rig.clock.now(), set: { raiseFence: true, nodeId: "n2" } }));
    await Promise.all([releaseStale(store(), rig.clock, never), releaseStale(store(), rig.clock, never)]);
    expect(await rig.seen(budget.id)).toMatchObject({ held: 0, spent: 0 });
    // What the lost run still settles is its change's, and that is refused: nothing is given back twice.
    const live = await rig.row(id);
    await reserving(live);
    rig.clock.pass(26 * 3_600_000);
    await releaseStale(store(), rig.clock, never);
    expect(await rig.seen(budget.id)).toMatchObject({ held: 0 });
  });

  test("that none counts is not asked for a hold, and nothing is written for it", async () => {
    const { id } = await rig.put(space());
    const before = (await holds()).length;
    expect(await reserving(await rig.claim(id))).toEqual({ id: "", credits: 5 });
    expect((await holds()).length).toBe(before);
  });
});

describeOnEach("what a task costs", (kind) => {
  const rig = budgetRig(kind);

  test("is the price of all its usage, rounded up once; its turns cost when they end well", async () => {
    const { id } = await rig.put();
    await rig.run(await rig.claim(id), async function* () {
      for (let i = 0; i < 3; i += 1) {
        yield { events: [thought], usage: tokens(33) };
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      yield { events: [thought], credits: 4, usage: { inputTokens: 0, outputTokens: 1, toolCalls: 1 } };
      return done;
    });
    // A hundred tokens are one credit, and beside it one tool, one turn and four credits.
    expect((await rig.row(id)).credits).toBe(1 + 1 + 2 + 4);
    const [sum] = await rowsIn(rig.db.url, `SELECT SUM(credits) AS credits FROM usage_entry WHERE task_id = '${id}'`);
    expect(Number(sum?.["credits"])).toBe(-8);
  });

  test("is three statements of the change that tells of it and a look at the budgets, one look more for a price, and none when nothing was used", async () => {
    const { id } = await rig.put();
    let task = await rig.claim(id);
    const parts = { store: rig.db.store, clock: rig.clock, ids: systemIds, prices, ...withoutFiles };
    const counted = async (done: Parameters<typeof append>[1]) => {
      const before = rig.statements.length;
      task = await append(task, done, parts);
      return rig.statements.length - before;
    };
    const plain = await counted({ events: [thought] });
    expect(await counted({ events: [thought], credits: 0, usage: tokens(0) })).toBe(plain);
    expect(await counted({ events: [thought], credits: 3 })).toBe(plain + 4);
    expect(await counted({ events: [thought], usage: tokens(300) })).toBe(plain + 5);
    await rig.budget({ ...task, kind: "task", subject: id, credits: 100 });
    expect(await counted({ events: [thought], credits: 3 })).toBe(plain + 5);
  });

  test("is nothing, and leaves no row, when nothing was used, or the run was lost", async () => {
    const { id } = await rig.put({ agentProfile: "free" });
    await rig.run(await rig.claim(id), async function* () {
      yield { events: [thought], credits: 0 };
      return done;
    });
    const other = await rig.put();
    const lost = await rig.claim(other.id);
    await rig.claim(other.id).catch(() => undefined);
    await rig.db.store.change((tx) => tx.tasks.advance(other.id, { now: 1, set: { raiseFence: true } }));
    await rig.run(lost, spending(5));
    expect(await rowsIn(rig.db.url, `SELECT id FROM usage_entry WHERE task_id IN ('${id}', '${other.id}')`)).toEqual([]);
    expect(await rowsIn(rig.db.url, `SELECT id FROM usage_record WHERE task_id IN ('${id}', '${other.id}')`)).toEqual([]);
    expect((await rig.row(other.id)).credits).toBe(0);
  });
});
