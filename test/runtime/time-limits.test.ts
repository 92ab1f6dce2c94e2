import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  confirm,
  continueAfterDecision,
  continueAfterWait,
  finish,
  firstEvents,
  queueMessage,
  resume,
  waitForSubtasks,
} from "../../src/core/tasks/lifecycle.ts";
import type { Advance, Task } from "../../src/core/tasks/task.ts";
import { releaseClaim } from "../../src/runtime/claims.ts";
import { endOverdueTurns } from "../../src/runtime/time-limits.ts";
import { agentThought, ann, putTask } from "../store/samples.ts";
import { claimTasks, unpublished } from "../support/claims.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { checkTask, taskInStore } from "../support/invariants.ts";
import { stillClock } from "../support/still-clock.ts";

// spec/api.md 8.78, spec/decisions.md 97
describeOnOne("a turn with a time limit", (kind) => {
  const clock = stillClock();
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind, { clock });
    await db.store.change((tx) =>
      tx.agentProfiles.set({ spaceId: ann.spaceId, profile: "slow", updatedAt: 1 }, { timeLimit: 60 }),
    );
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const row = async (id: string): Promise<Task> => {
    const task = await db.store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  };
  const advance = async (id: string, step: Omit<Advance, "now">) =>
    db.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), ...step }));
  const claim = async (id: string, node = "n") => {
    const task = await row(id);
    const [claimed] = await db.store.change((tx) => claimTasks(tx, [task], node, clock.now()));
    if (!claimed) throw new Error("not claimed");
    return claimed;
  };
  /** Moves the clock and ends overdue turns. */
  const after = async (seconds: number) => {
    await clock.leap(seconds * 1_000);
    await endOverdueTurns({ store: db.store, clock, publishTask: unpublished });
  };
  let id: string;
  beforeEach(async () => {
    id = (await putTask(db.store, { agentProfile: "slow", createdAt: clock.now() }, firstEvents("Hello"))).id;
  });
  const statusOf = async () => (await row(id)).status;

  test("ends in error when it takes longer, and its run can write nothing more", async () => {
    await clock.leap(500_000);
    const { fence } = await claim(id);
    await advance(id, { when: { fence }, events: [agentThought()] });
    await after(59);
    expect(await statusOf()).toBe("running");
    await after(1);
    const ended = await row(id);
    expect(ended).toMatchObject({ status: "error", nodeId: null });
    expect(ended.fence).toBeGreaterThan(fence);
    expect(await advance(id, { when: { fence }, events: [agentThought()] })).toBeNull();
    const events = await db.store.events.list(id, { order: "desc", limit: 2, verbose: true });
    expect(events.map(({ payload }) => payload)).toMatchObject([
      { agentStatus: "error" },
      {
        errorType: "timeout",
        content: "The turn took longer than the time limit of 60 seconds of the profile slow.",
      },
    ]);
    checkTask(await taskInStore(db.store, id));
  });

  test("counts from its first run, over lost runs, and again from a decision", async () => {
    const first = await claim(id);
    await clock.leap(30_000);
    await db.store.change((tx) => releaseClaim(tx, [first], clock.now()));
    await claim(id, "successor");
    const approval = { kind: "terminalExecute", variant: "", actionId: "a" } as const;
    await after(29);
    await advance(id, confirm(approval));
    await after(3_600);
    expect(await statusOf(), "the user takes their time").toBe("waiting");
    await advance(id, continueAfterDecision(approval, true, {}, clock.now()));
    await after(3_600);
    expect(await statusOf(), "no run began").toBe("running");
    const { fence } = await claim(id);
    await after(59);
    await db.store.change((tx) => releaseClaim(tx, [{ ...first, fence, nodeId: "n" }], clock.now()));
    await after(1);
    expect(await statusOf(), "also between two runs").toBe("error");
  });

  test("does not count while the task waits for its subtasks", async () => {
    await claim(id);
    await clock.leap(50_000);
    await advance(id, waitForSubtasks("Waits for 2 subtasks"));
    await after(3_600);
    expect(await statusOf()).toBe("running");
    await advance(id, continueAfterWait("Continues", clock.now()));
    await claim(id);
    await after(59);
    expect(await statusOf()).toBe("running");
    await after(1);
    expect(await statusOf()).toBe("error");
  });

  test("does not end when the turn has ended, also by a next turn that begins at once", async () => {
    await claim(id);
    await advance(id, finish("Done"));
    await after(61);
    expect(await statusOf()).toBe("stopped");
    await advance(id, resume("Next", clock.now()));
    await claim(id);
    await clock.leap(50_000);
    await advance(id, queueMessage("And"));
    await advance(id, { set: { beginTurn: true } });
    await after(50);
    expect(await statusOf(), "the next turn has its own time").toBe("running");
    await after(10);
    expect(await statusOf()).toBe("error");
  });

  test("leaves a message that it has not read to the next turn", async () => {
    await claim(id);
    await advance(id, queueMessage("Next"));
    await after(60);
    expect(await row(id)).toMatchObject({ status: "running", nodeId: null, claims: 0 });
    await after(600);
    expect(await statusOf(), "the next turn did not begin").toBe("running");
    const next = await claim(id);
    expect(next).toMatchObject({ claims: 1, answeredSeq: 2, consumedSeq: 4 });
    checkTask(await taskInStore(db.store, id));
  });

  test("is without a limit in another profile and another space", async () => {
    const others = [
      await putTask(db.store, { agentProfile: "fast", createdAt: clock.now() }, firstEvents("Hello")),
      await putTask(
        db.store,
        { agentProfile: "slow", spaceId: "elsewhere", createdAt: clock.now() },
        firstEvents("Hello"),
      ),
    ];
    for (const other of others) await claim(other.id);
    await after(1_000_000);
    for (const other of others) expect((await row(other.id)).status).toBe("running");
  });
});
