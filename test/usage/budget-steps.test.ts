import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { holdStep } from "../../src/core/usage/spend.ts";
import type { Agent } from "../../src/runtime/agent.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { newId } from "../store/samples.ts";
import { describeOnEach, describeOnOne } from "../support/database.ts";
import { budgetRig } from "./budget-rig.ts";

const space = () => ({ spaceId: newId("space"), accountId: newId("account") });
const thought = { type: "explanation", payload: { content: "Hm" } } as const;

describeOnEach("a budget of 100 credits", (kind) => {
  const rig = budgetRig(kind);

  test("lets four of twenty parallel runs of the offline agent begin, and is overspent by what they report at most", async () => {
    const ids = space();
    const team = await rig.budget({ ...ids, kind: "team", subject: ids.spaceId, credits: 100 });
    const tasks = await Promise.all(Array.from({ length: 20 }, () => rig.put(ids, "[[credits 30]] Done")));
    const claimed = await Promise.all(tasks.map(({ id }) => rig.claim(id)));
    const decided = Promise.withResolvers<void>();
    let [begun, over] = [0, 0];
    const check = () => begun + over === 20 && decided.resolve();
    // No run ends before each has begun or was refused.
    const agent: Agent = async function* (turn) {
      begun += 1;
      check();
      await decided.promise;
      return yield* offlineAgent(turn);
    };
    const all = Promise.all(
      claimed.map(async (task) => {
        await rig.run(task, agent);
        over += 1;
        check();
      }),
    );
    await decided.promise;
    const duringRuns = await rig.seen(team.id);
    await all;
    expect(begun).toBe(4);
    expect(duringRuns).toMatchObject({ spent: 0, held: 100 });
    const rows = await Promise.all(tasks.map(({ id }) => rig.row(id)));
    expect(rows.filter(({ status }) => status === "stopped").map(({ credits }) => credits)).toEqual([
      32, 32, 32, 32,
    ]);
    const refused = rows.filter(({ status }) => status === "error");
    expect(refused.map(({ credits }) => credits)).toEqual(Array.from({ length: 16 }, () => 0));
    for (const { id } of refused) {
      expect(await rig.errors(id)).toEqual(["quota_limit"]);
      expect(await rig.errorTexts(id)).toEqual(["Too few credits are left, or other runs hold them."]);
    }
    expect(await rig.seen(team.id)).toMatchObject({ spent: 4 * 32, held: 0 });
  });
});

describeOnOne("the step that a run holds", (kind) => {
  const rig = budgetRig(kind);
  const parts = () => ({ store: rig.db.store, clock: rig.clock, ids: systemIds, step: 25 });
  const beginsWith = async (ids: ReturnType<typeof space>, agent: Agent) => {
    const { id } = await rig.put(ids);
    await rig.run(await rig.claim(id), agent);
    return (await rig.row(id)).status;
  };

  test("is 25 credits of each budget, or the whole budget if it is smaller", async () => {
    const ids = space();
    const { id } = await rig.put(ids);
    const task = await rig.budget({ ...ids, kind: "task", subject: id, credits: 10 });
    const team = await rig.budget({ ...ids, kind: "team", subject: ids.spaceId, credits: 60 });
    await rig.run(await rig.claim(id), async function* () {
      expect(await rig.seen(task.id)).toMatchObject({ held: 10 });
      expect(await rig.seen(team.id)).toMatchObject({ held: 25 });
      yield { events: [thought], credits: 3 };
      return { kind: "finish", content: "Done" };
    });
    expect(await rig.row(id)).toMatchObject({ status: "stopped", credits: 5 });
    for (const budget of [task, team]) expect(await rig.seen(budget.id)).toMatchObject({ spent: 5, held: 0 });
  });

  test("of a lost run delays no other: it is released as soon as a run needs it", async () => {
    const ids = space();
    const { id } = await rig.put(ids);
    const budget = await rig.budget({ ...ids, kind: "account", subject: ids.accountId, credits: 25 });
    expect(await holdStep(parts(), await rig.claim(id))).toMatchObject([{ credits: 25 }]);
    // Its process was killed; another claims the task.
    await rig.run(await rig.claim(id), offlineAgent);
    expect(await rig.row(id)).toMatchObject({ status: "stopped" });
    expect(await rig.seen(budget.id)).toMatchObject({ spent: 2, held: 0 });
  });

  test("becomes a part of the reservation of a run that reserves", async () => {
    const ids = space();
    const budget = await rig.budget({ ...ids, kind: "team", subject: ids.spaceId, credits: 30 });
    const status = await beginsWith(ids, async function* (turn) {
      const hold = await turn.reserve({ inputTokens: 3000, outputTokens: 0, toolCalls: 0 });
      expect(await rig.seen(budget.id)).toMatchObject({ held: 30 });
      yield {
        events: [thought],
        usage: { inputTokens: 100, outputTokens: 0, toolCalls: 0 },
        settles: [hold],
      };
      return { kind: "finish", content: "Done" };
    });
    expect(status).toBe("stopped");
    expect(await rig.seen(budget.id)).toMatchObject({ spent: 3, held: 0 });
  });

  test("is not held by an agent that reserves each call: it begins with less left", async () => {
    const ids = space();
    const budget = await rig.budget({ ...ids, kind: "team", subject: ids.spaceId, credits: 30 });
    const spends: Agent = async function* () {
      yield { events: [thought], credits: 18 };
      return { kind: "finish", content: "Done" };
    };
    expect(await beginsWith(ids, spends)).toBe("stopped");
    expect(await beginsWith(ids, spends)).toBe("error");
    expect(await rig.seen(budget.id)).toMatchObject({ spent: 20, held: 0 });
    const finishes: Agent = async function* () {
      return { kind: "finish", content: "Done" };
    };
    expect(await beginsWith(ids, Object.assign(finishes, { reserves: true } as const))).toBe("stopped");
  });
});
