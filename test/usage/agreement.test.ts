import {
  type AsyncCommand,
  assert,
  asyncModelRun,
  asyncProperty,
  commands,
  constantFrom,
  integer,
} from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Caller } from "../../src/core/accounts/caller.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemIds } from "../../src/core/ids.ts";
import { queueMessage } from "../../src/core/tasks/lifecycle.ts";
import { grant, refund } from "../../src/core/usage/credits.ts";
import { reports } from "../../src/core/usage/reports.ts";
import { dayOf } from "../../src/core/usage/usage.ts";
import { append } from "../../src/runtime/ending.ts";
import { newId, putTask } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { prices } from "./budget-rig.ts";

const dayMs = 86_400_000;
const people = ["ann", "bo"] as const;
const pool = 10_000;

/** The usage of a person's task: its costs by day, less refunds. */
interface TaskModel {
  readonly account: string;
  readonly days: Map<number, number>;
  /** Tokens used, a hundred per credit. */
  tokens: number;
  deleted: boolean;
}

interface Model {
  readonly tasks: Map<string, TaskModel>;
  readonly grants: Map<string, number>;
}

interface Real {
  readonly db: TestStore;
  readonly clock: ReturnType<typeof movableClock>;
  readonly spaceId: string;
  readonly ids: string[];
}

type Step = AsyncCommand<Model, Real>;
const step = (name: string, work: (model: Model, real: Real) => Promise<void>): Step => ({
  check: () => true,
  async run(model, real) {
    await work(model, real);
    await checkAgreement(model, real);
  },
  toString: () => name,
});

const netCost = ({ days }: TaskModel): number =>
  [...days.values()].reduce((sum, credits) => sum + credits, 0);
const callerOf = (accountId: string, spaceId: string, role: Caller["role"]): Caller => ({
  ...{ accountId, spaceId, role, locale: "en" },
  credential: { kind: "key", keyKind: "general", id: "k", scopes: null },
});

/** A run writes credits, and tokens that have a price. */
const run = (at: number, credits: number, tokens: number) =>
  step(`run(${at}, ${credits}, ${tokens})`, async (model, { db, clock, ids }) => {
    const id = ids[at % ids.length] ?? "";
    const known = model.tasks.get(id);
    const task = await db.store.tasks.byId(id);
    if (!task || !known) return;
    const usage = { inputTokens: tokens, outputTokens: 0, toolCalls: 0 };
    const events = [{ type: "explanation", payload: { content: "Hm" } }] as const;
    await append(
      task,
      { events, credits, usage },
      { store: db.store, clock, ids: systemIds, prices, ...withoutFiles },
    );
    const cost = credits + Math.ceil((known.tokens + tokens) / 100) - Math.ceil(known.tokens / 100);
    known.tokens += tokens;
    const day = dayOf(clock.now());
    if (credits + tokens > 0) known.days.set(day, (known.days.get(day) ?? 0) + cost);
  });

const giveBack = (at: number, credits: number | null) =>
  step(`refund(${at}, ${credits})`, async (model, { db, clock, ids }) => {
    const id = ids[at % ids.length] ?? "";
    const known = model.tasks.get(id);
    const spent = known ? netCost(known) : 0;
    const making = { now: clock.now(), ids: systemIds };
    const refunded = db.store.change((tx) => refund(tx, making, id, credits));
    if (!known || spent === 0 || (credits ?? 0) > spent) {
      await expect(refunded).rejects.toBeInstanceOf(Failure);
      return;
    }
    expect((await refunded).credits).toBe(credits ?? spent);
    let left = credits ?? spent;
    for (const [day, cost] of [...known.days].toSorted(([a], [b]) => b - a)) {
      known.days.set(day, cost - Math.min(cost, left));
      left -= Math.min(cost, left);
    }
  });

const give = (account: string, credits: number) =>
  step(`grant(${account}, ${credits})`, async (model, { db, clock, spaceId }) => {
    await db.store.change((tx) =>
      grant(tx, { now: clock.now(), ids: systemIds }, { accountId: account, spaceId }, credits),
    );
    model.grants.set(account, (model.grants.get(account) ?? 0) + credits);
  });

const remove = (at: number) =>
  step(`delete(${at})`, async (model, { db, clock, ids }) => {
    const id = ids[at % ids.length] ?? "";
    await db.store.change((tx) => tx.tasks.tombstone(id, clock.now(), false));
    const known = model.tasks.get(id);
    if (known) known.deleted = true;
  });

const passHours = (hours: number) =>
  step(`pass(${hours} h)`, async (_model, { clock }) => clock.pass(hours * 3_600_000));

const sendMessage = (at: number) =>
  step(`message(${at})`, async (_model, { db, clock, ids }) => {
    await db.store.change((tx) =>
      tx.tasks.advance(ids[at % ids.length] ?? "", { now: clock.now(), ...queueMessage("More") }),
    );
  });

/** Every report of credits matches the model, and the others. */
async function checkAgreement(model: Model, { db: { store }, clock, spaceId }: Real): Promise<void> {
  const usageReports = reports(clock, 1);
  const owner = callerOf("ann", spaceId, "owner");
  const all = [...model.tasks.entries()];
  const range = { start: clock.now() - 300 * dayMs, end: clock.now() };
  const allTime = { start: undefined, end: undefined };
  let sum = 0;
  for (const account of people) {
    const caller = callerOf(account, spaceId, "member");
    const { items } = await usageReports.list(store, caller, {
      limit: 100,
      cursor: undefined,
      range: allTime,
      filter: {},
    });
    const own = all.filter(([, task]) => task.account === account);
    const used = own.filter(([, { days }]) => days.size > 0);
    const tasks = items.filter(({ taskId }) => taskId !== null);
    expect(new Map(tasks.map(({ taskId, credits }) => [taskId, credits]))).toEqual(
      new Map(used.map(([id, task]) => [id, 0 - netCost(task)])),
    );
    for (const { taskId, title } of tasks)
      expect(title === null).toBe(model.tasks.get(taskId ?? "")?.deleted);
    const granted = items
      .filter(({ taskId }) => taskId === null)
      .reduce((total, { credits }) => total + credits, 0);
    expect(granted).toBe(model.grants.get(account) ?? 0);
    const spent = own.reduce((total, [, task]) => total + netCost(task), 0);
    sum += spent;
    const mine = await usageReports.days(store, caller, range, {});
    expect(mine.reduce((total, { credits }) => total + credits, 0)).toBe(spent);
    for (const { credits } of mine) expect(credits).toBeGreaterThanOrEqual(0);
    const query = {
      limit: 10,
      cursor: undefined,
      range,
      filter: {},
      sort: "credits",
      order: "desc",
    } as const;
    const log = await usageReports.people(store, owner, query);
    const row = log.items.find(({ accountId }) => accountId === account);
    expect({ credits: row?.credits ?? 0, tasks: row?.tasks ?? 0 }).toEqual({
      credits: spent,
      tasks: used.length,
    });
  }
  const days = await usageReports.days(store, owner, range, {});
  expect(days.reduce((total, { credits }) => total + credits, 0)).toBe(sum);
  const granted = [...model.grants.values()].reduce((total, credits) => total + credits, 0);
  expect(await usageReports.available(store, owner)).toBe(pool + granted - sum);
  for (const [id, task] of all)
    if (!task.deleted) expect((await store.tasks.byId(id))?.credits).toBe(netCost(task));
  for (const [id, task] of all) await checkBudget(store, spaceId, id, task);
}

/** A budget equals the sum of its entries. */
async function checkBudget(
  store: TestStore["store"],
  spaceId: string,
  id: string,
  task: TaskModel,
): Promise<void> {
  const of = { spaceId, accountId: "nobody", taskId: id, projectId: null, clientId: null };
  const [budget] = (await store.budgets.listFor(of)).filter(({ kind }) => kind === "task");
  expect(budget?.spent).toBe(netCost(task));
}

describeOnOne("credits", (kind) => {
  const clock = movableClock();
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind, { clock });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  async function setUp(): Promise<{ model: Model; real: Real }> {
    const spaceId = newId("space");
    const tasks = new Map<string, TaskModel>();
    const now = clock.now();
    const budget = {
      spaceId,
      period: "total",
      spent: 0,
      held: 0,
      since: 0,
      createdAt: now,
      updatedAt: now,
    } as const;
    await db.store.change((tx) =>
      tx.budgets.set({ ...budget, id: newId("b"), kind: "team", subject: spaceId, credits: pool }),
    );
    for (const account of ["ann", "bo", "ann"]) {
      const { id } = await putTask(db.store, { accountId: account, spaceId, createdAt: now });
      tasks.set(id, { account, days: new Map(), tokens: 0, deleted: false });
      await db.store.change((tx) =>
        tx.budgets.set({ ...budget, id: newId("b"), kind: "task", subject: id, credits: pool }),
      );
    }
    return { model: { tasks, grants: new Map() }, real: { db, clock, spaceId, ids: [...tasks.keys()] } };
  }

  test("are the same in usage.list, teamStatistic, teamLog, availableCredits, budgets and tasks, for runs, refunds, grants and deletions in any order", async () => {
    const at = integer({ min: 0, max: 2 });
    const credits = integer({ min: 0, max: 9 });
    const steps = commands(
      [
        at.chain((task) =>
          credits.chain((many) => integer({ min: 0, max: 250 }).map((tokens) => run(task, many, tokens))),
        ),
        at.chain((task) => constantFrom(null, 1, 3, 20).map((many) => giveBack(task, many))),
        constantFrom(...people).chain((account) =>
          integer({ min: 1, max: 50 }).map((many) => give(account, many)),
        ),
        at.map(remove),
        at.map(sendMessage),
        constantFrom(1, 13, 24, 100).map(passHours),
      ],
      { maxCommands: 14 },
    );
    await assert(
      asyncProperty(steps, async (cmds) => {
        await asyncModelRun(setUp, cmds);
      }),
      { numRuns: kind === "sqlite" ? 40 : 15 },
    );
  });
});
