import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Claimable, Task } from "../../src/core/tasks/task.ts";
import { claimTasks, giveBack, idleClaimsMax } from "../../src/runtime/claims.ts";
import { putTask, said, userMessage } from "../store/samples.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";

const now = 5000;

describeOnEach("claims", (kind) => {
  let test_: TestStore;
  beforeAll(async () => {
    test_ = await openTestStore(kind);
  });
  afterAll(() => test_[Symbol.asyncDispose]());

  const claim = (candidates: readonly Claimable[], node = "n1") => test_.store.change((tx) => claimTasks(tx, candidates, node, now));
  const asSeen = async ({ id }: Pick<Task, "id">): Promise<Task> => {
    const task = await test_.store.tasks.byId(id);
    if (!task) throw new Error(`no task ${id}`);
    return task;
  };

  describe("a claim", () => {
    test("of a task that waits begins its turn with all its messages", async () => {
      const task = await putTask(test_.store, { fence: 4 }, [userMessage()]);
      const [claimed] = await claim([task]);
      expect(claimed).toMatchObject({ id: task.id, nodeId: "n1", fence: 5, claims: 1, idleClaims: 0, consumedSeq: 1 });
    });

    test("of a task whose run was lost goes on with its turn", async () => {
      const task = await putTask(test_.store, { nodeId: "dead", claims: 2, idleClaims: 1, lastSeq: 9, consumedSeq: 3 });
      const [claimed] = await claim([task]);
      expect(claimed).toMatchObject({ nodeId: "n1", claims: 3, idleClaims: 2, consumedSeq: 3 });
    });

    const changed: readonly {
      readonly why: string;
      readonly change: Partial<Pick<Task, "status" | "nodeId">>;
      readonly fence?: boolean;
    }[] = [
      { why: "ended", change: { status: "stopped" } },
      { why: "was claimed by somebody", change: { nodeId: "n2" } },
      { why: "changed hands and was given back", change: {}, fence: true },
    ];
    test.each(changed)("does nothing to a task that $why since it was seen", async ({ change, fence }) => {
      const seen = await putTask(test_.store, { nodeId: null }, [userMessage()]);
      await test_.store.change((tx) => tx.tasks.advance(seen.id, { now, set: { ...change, ...(fence ? { raiseFence: true } : {}) } }));
      const before = await asSeen(seen);
      expect(await claim([seen])).toEqual([]);
      expect(await asSeen(seen)).toEqual(before);
    });

    test("is won by one of many at once", async () => {
      const tasks = await Promise.all(Array.from({ length: 5 }, () => putTask(test_.store)));
      const won = await Promise.all(Array.from({ length: 8 }, (_, i) => claim(i % 2 ? tasks : tasks.toReversed(), `n${i}`)));
      expect(
        won
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(tasks.map(({ id }) => id).toSorted());
    });
  });

  describe(`${idleClaimsMax} claims without an event`, () => {
    async function claimOften(task: Task, times: number): Promise<void> {
      for (let i = 0; i < times; i += 1) expect(await claim([await asSeen(task)]), `claim ${i + 1}`).toHaveLength(1);
    }

    test("are granted, and the next ends the task in an internal error", async () => {
      const task = await putTask(test_.store, {}, [userMessage()]);
      await claimOften(task, idleClaimsMax);
      expect(await claim([await asSeen(task)])).toEqual([]);
      expect(await asSeen(task)).toMatchObject({ status: "error", nodeId: null, lastSeq: 3 });
      const [, error, status] = await test_.store.events.list(task.id, { order: "asc", limit: 10, verbose: true });
      expect(error).toMatchObject({ type: "error_message", payload: { errorType: "internal" } });
      expect(status).toMatchObject({ type: "status_update", payload: { agentStatus: "error" } });
    });

    test("are counted anew after an event, the claim that made it being the first", async () => {
      const task = await putTask(test_.store);
      await claimOften(task, idleClaimsMax);
      await test_.store.change((tx) => tx.tasks.advance(task.id, { now, events: [said()] }));
      await claimOften(task, idleClaimsMax - 1);
      expect(await claim([await asSeen(task)])).toEqual([]);
    });
  });

  describe("giving back", () => {
    test("puts a task into the queue, and what still runs it may write no more", async () => {
      const task = await putTask(test_.store, { nodeId: "n1", fence: 3, claims: 2 });
      await test_.store.change((tx) => giveBack(tx, [task], now));
      expect(await asSeen(task)).toMatchObject({ status: "running", nodeId: null, fence: 4, claims: 2 });
    });

    test("in good order is no sign that a task does harm", async () => {
      const task = await putTask(test_.store, { nodeId: "n1", idleClaims: 20 });
      await test_.store.change((tx) => giveBack(tx, [task], now));
      expect(await asSeen(task)).toMatchObject({ idleClaims: 0 });
    });

    test("leaves alone what somebody has taken over", async () => {
      const seen = await putTask(test_.store, { nodeId: "n1" });
      await claim([seen], "n2");
      const before = await asSeen(seen);
      await test_.store.change((tx) => giveBack(tx, [seen], now));
      expect(await asSeen(seen)).toEqual(before);
    });
  });
});
