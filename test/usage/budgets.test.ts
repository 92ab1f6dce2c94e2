import { expect, test } from "vitest";
import { Failure } from "../../src/core/failure.ts";
import { systemIds } from "../../src/core/ids.ts";
import { releaseStale, reserve } from "../../src/core/usage/spend.ts";
import type { Agent, Hold } from "../../src/runtime/agent.ts";
import { append } from "../../src/runtime/ending.ts";
import { newId } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { budgetRig, prices } from "./budget-rig.ts";

const thoughtEvent = { type: "explanation", payload: { content: "Hm" } } as const;
const tokens = (inputTokens: number) => ({ inputTokens, outputTokens: 0, toolCalls: 0 });
const done = { kind: "finish", content: "Done" } as const;
/** The ending of the model agent when the budget is used up. */
const outOfRoom = { kind: "fail", errorType: "quota_limit", content: "The credits are used up." } as const;
const never = new AbortController().signal;

/**
 * Calls a model repeatedly, each time reserving five credits and using three, until the budget is used up.
 */
const callsModel: Agent = async function* (turn) {
  for (;;) {
    let hold: Hold;
    try {
      hold = await turn.reserve(tokens(500));
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.reason === "resource_exhausted") return outOfRoom;
      throw thrown;
    }
    yield { events: [thoughtEvent], usage: tokens(300), settles: [hold] };
  }
};
const greedy: Agent = Object.assign(callsModel, { reserves: true } as const);

/** Spends this many credits at once, without a reservation. */
const spending = (credits: number): Agent =>
  async function* () {
    yield { events: [thoughtEvent], credits };
    // Buffered events are written when the agent waits.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    yield { events: [thoughtEvent] };
    return done;
  };

describeOnOne("a budget", (kind) => {
  const rig = budgetRig(kind);
  const space = () => ({ spaceId: newId("space"), accountId: newId("account") });
  const store = () => rig.db.store;
  const entries = (taskId: string) =>
    rowsIn(
      rig.db.url,
      `SELECT kind, credits, input_tokens FROM usage_entry WHERE task_id = '${taskId}' ORDER BY at, credits`,
    );
  const holds = () => rowsIn(rig.db.url, "SELECT id FROM budget_hold");
  const reserving = (task: Parameters<typeof reserve>[1], atMost = tokens(500)) =>
    reserve({ store: store(), clock: rig.clock, ids: systemIds, prices }, task, atMost);

  test("of fifty concurrent runs is never overspent, because each reserves its usage", async () => {
    const ids = space();
    const team = await rig.budget({ ...ids, kind: "team", subject: ids.spaceId, credits: 1000 });
    const account = await rig.budget({ ...ids, kind: "account", subject: ids.accountId, credits: 2000 });
    const tasks = await Promise.all(Array.from({ length: 50 }, () => rig.put(ids)));
    await Promise.all(tasks.map(async ({ id }) => rig.run(await rig.claim(id), greedy)));
    const rows = await Promise.all(tasks.map(({ id }) => rig.row(id)));
    const total = rows.reduce((sum, { credits }) => sum + credits, 0);
    expect(total % 3).toBe(0);
    // A refused run found less than one call's maximum, in addition to two holds of each run: that of its
    // previous call may be unsettled.
    expect(total).toBeGreaterThan(1000 - 50 * 2 * 5);
    expect(total).toBeLessThanOrEqual(1000);
    expect(rows.map(({ status }) => status)).toEqual(rows.map(() => "error"));
    expect(await rig.seen(team.id)).toMatchObject({ spent: total, held: 0 });
    expect(await rig.seen(account.id)).toMatchObject({ spent: total, held: 0 });
    for (const { id } of tasks) expect(await rig.errors(id)).toEqual(["quota_limit"]);
  });

  test("that fifty runs overspend without reservations is overspent only by their steps in progress, and ends them all", async () => {
    const ids = space();
    const team = await rig.budget({ ...ids, kind: "team", subject: ids.spaceId, credits: 20 });
    const tasks = await Promise.all(Array.from({ length: 50 }, () => rig.put(ids)));
    await Promise.all(tasks.map(async ({ id }) => rig.run(await rig.claim(id), spending(7))));
    const rows = await Promise.all(tasks.map(({ id }) => rig.row(id)));
    const total = rows.reduce((sum, { credits }) => sum + credits, 0);
    expect(await rig.seen(team.id)).toMatchObject({ spent: total, held: 0 });
    expect(total).toBeLessThanOrEqual(20 + 50 * 9);
    expect(rows.filter(({ status }) => status === "error").length).toBeGreaterThanOrEqual(45);
  });

  test("that is spent starts no run: the task ends in error, with quota_limit, and costs nothing", async () => {
    const ids = space();
    await rig.budget({ ...ids, kind: "team", subject: ids.spaceId, credits: 0 });
    const { id } = await rig.put(ids);
    let hasBegun = false;
    await rig.run(await rig.claim(id), async function* () {
      hasBegun = true;
      yield { events: [thoughtEvent] };
      return done;
    });
    expect(hasBegun).toBe(false);
    expect(await rig.errors(id)).toEqual(["quota_limit"]);
    expect(await rig.errorTexts(id)).toEqual(["The credits are used up."]);
    expect(await rig.row(id)).toMatchObject({ status: "error", credits: 0, nodeId: null });
    expect(await entries(id)).toEqual([]);
  });

  test("ends a run that used more than available at its next step, and writes all its usage", async () => {
    const ids = space();
    const { id } = await rig.put(ids);
    const budget = await rig.budget({ ...ids, kind: "task", subject: id, credits: 10 });
    await rig.run(await rig.claim(id), spending(11));
    expect(await rig.row(id)).toMatchObject({ status: "error", credits: 11 });
    expect(await rig.errors(id)).toEqual(["quota_limit"]);
    expect(await rig.seen(budget.id)).toMatchObject({ spent: 11 });
    expect(await entries(id)).toMatchObject([{ kind: "cost", credits: -11 }]);
  });

  test("counts the spending of its task, project, app, account and team, and no other", async () => {
    const ids = space();
    const { id } = await rig.put({ ...ids, projectId: "p", clientId: "c" });
    const of = (
      kind: "task" | "project" | "app" | "account" | "team",
      subject: string,
      spaceId = ids.spaceId,
    ) => rig.budget({ spaceId, kind, subject, credits: 100 });
    const counted = await Promise.all([
      of("task", id),
      of("project", "p"),
      of("app", "c"),
      of("account", ids.accountId),
      of("team", ids.spaceId),
    ]);
    const others = await Promise.all([
      of("task", "other"),
      of("project", "q"),
      of("account", "other"),
      of("account", ids.accountId, newId("space")),
      of("project", "p", newId("space")),
    ]);
    await rig.run(await rig.claim(id), spending(4));
    // The turn costs two.
    for (const { id: budget } of counted) expect(await rig.seen(budget)).toMatchObject({ spent: 6, held: 0 });
    for (const { id: budget } of others) expect(await rig.seen(budget)).toMatchObject({ spent: 0 });
    // A budget that is made later begins with the previous spending.
    expect(
      await rig.budget({ ...ids, kind: "account", subject: ids.accountId, period: "month", credits: 5 }),
    ).toMatchObject({
      spent: 6,
    });
  });

  test("starts over with its day or month; a total does not; held credits stay held", async () => {
    const ids = space();
    rig.clock.set(Date.parse("2027-01-31T23:59:00Z"));
    const { id } = await rig.put(ids);
    const make = (period: "day" | "month" | "total") =>
      rig.budget({ ...ids, kind: "team", subject: ids.spaceId, period, credits: 10 });
    const [day, month, total] = await Promise.all([make("day"), make("month"), make("total")]);
    await rig.run(await rig.claim(id), spending(8));
    for (const budget of [day, month, total]) expect(await rig.seen(budget.id)).toMatchObject({ spent: 10 });
    const second = await rig.put(ids);
    const claimed = await rig.claim(second.id);
    await expect(reserving(claimed)).rejects.toMatchObject({ reason: "resource_exhausted" });
    rig.clock.set(Date.parse("2027-02-01T00:00:00Z"));
    // The total is still used up.
    await expect(reserving(claimed)).rejects.toMatchObject({ reason: "resource_exhausted" });
    await store().change((tx) => tx.budgets.remove(ids.spaceId, total.id));
    await reserving(claimed);
    for (const budget of [day, month]) expect(await rig.seen(budget.id)).toMatchObject({ spent: 0, held: 5 });
    await reserving(claimed);
    await expect(reserving(claimed, tokens(1))).rejects.toMatchObject({ reason: "resource_exhausted" });
  });

  test("regains the hold of a crashed run once its task has another fence, and before that only after the lease", async () => {
    const ids = space();
    const { id } = await rig.put(ids);
    const budget = await rig.budget({ ...ids, kind: "account", subject: ids.accountId, credits: 10 });
    const lost = await rig.claim(id);
    const hold = await reserving(lost);
    expect(hold).toMatchObject({ credits: 5 });
    await releaseStale(store(), rig.clock, never);
    expect(await rig.seen(budget.id)).toMatchObject({ held: 5 });
    // Another process takes the task over.
    await store().change((tx) =>
      tx.tasks.advance(id, { now: rig.clock.now(), set: { raiseFence: true, nodeId: "n2" } }),
    );
    await Promise.all([releaseStale(store(), rig.clock, never), releaseStale(store(), rig.clock, never)]);
    expect(await rig.seen(budget.id)).toMatchObject({ held: 0, spent: 0 });
    // The lost run settles in its own change, which is refused: nothing is released twice.
    const live = await rig.row(id);
    await reserving(live);
    rig.clock.pass(26 * 3_600_000);
    await releaseStale(store(), rig.clock, never);
    expect(await rig.seen(budget.id)).toMatchObject({ held: 0 });
  });

  test("without a matching task is not reserved, and nothing is written for it", async () => {
    const { id } = await rig.put(space());
    const before = (await holds()).length;
    expect(await reserving(await rig.claim(id))).toMatchObject({ id: "", credits: 5 });
    expect((await holds()).length).toBe(before);
  });
});

describeOnOne("the cost of a task", (kind) => {
  const rig = budgetRig(kind);

  test("is the price of all its usage, rounded up once; a turn costs only if it ends normally", async () => {
    const { id } = await rig.put();
    await rig.run(await rig.claim(id), async function* () {
      for (let i = 0; i < 3; i += 1) {
        yield { events: [thoughtEvent], usage: tokens(33) };
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      yield { events: [thoughtEvent], credits: 4, usage: { inputTokens: 0, outputTokens: 1, toolCalls: 1 } };
      return done;
    });
    // A hundred tokens are one credit, plus one tool, one turn and four credits.
    expect((await rig.row(id)).credits).toBe(1 + 1 + 2 + 4);
    const [sum] = await rowsIn(
      rig.db.url,
      `SELECT SUM(credits) AS credits FROM usage_entry WHERE task_id = '${id}'`,
    );
    expect(Number(sum?.["credits"])).toBe(-8);
  });

  test("needs three statements in the change that records it and one budget read, another read for a price, and none without usage", async () => {
    const { id } = await rig.put();
    let task = await rig.claim(id);
    const parts = { store: rig.db.store, clock: rig.clock, ids: systemIds, prices, ...withoutFiles };
    const counted = async (done: Parameters<typeof append>[1]) => {
      const before = rig.statements.length;
      task = await append(task, done, parts);
      return rig.statements.length - before;
    };
    const plain = await counted({ events: [thoughtEvent] });
    expect(await counted({ events: [thoughtEvent], credits: 0, usage: tokens(0) })).toBe(plain);
    expect(await counted({ events: [thoughtEvent], credits: 3 })).toBe(plain + 4);
    expect(await counted({ events: [thoughtEvent], usage: tokens(300) })).toBe(plain + 5);
    await rig.budget({ ...task, kind: "task", subject: id, credits: 100 });
    expect(await counted({ events: [thoughtEvent], credits: 3 })).toBe(plain + 5);
  });

  test("is zero, and leaves no row, without usage or after a lost run", async () => {
    const { id } = await rig.put({ agentProfile: "free" });
    await rig.run(await rig.claim(id), async function* () {
      yield { events: [thoughtEvent], credits: 0 };
      return done;
    });
    const other = await rig.put();
    const lost = await rig.claim(other.id);
    await rig.claim(other.id).catch(() => undefined);
    await rig.db.store.change((tx) => tx.tasks.advance(other.id, { now: 1, set: { raiseFence: true } }));
    await rig.run(lost, spending(5));
    expect(
      await rowsIn(rig.db.url, `SELECT id FROM usage_entry WHERE task_id IN ('${id}', '${other.id}')`),
    ).toEqual([]);
    expect(
      await rowsIn(rig.db.url, `SELECT id FROM usage_record WHERE task_id IN ('${id}', '${other.id}')`),
    ).toEqual([]);
    expect((await rig.row(other.id)).credits).toBe(0);
  });
});
