import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Task } from "../../src/core/tasks/task.ts";
import type { ClaimableTask } from "../../src/core/tasks/task-rows.ts";
import { idleClaimsMax, releaseClaim } from "../../src/runtime/claims.ts";
import { agentMessage, putTask, userMessage } from "../store/samples.ts";
import { claimTasks } from "../support/claims.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";

const now = 5000;

describeOnEach("claims", (kind) => {
  let test_: TestStore;
  beforeAll(async () => {
    test_ = await openTestStore(kind);
  });
  afterAll(() => test_[Symbol.asyncDispose]());

  const claim = (claimable: readonly ClaimableTask[], node = "n1") =>
    test_.store.change((tx) => claimTasks(tx, claimable, node, now));
  const readTask = async ({ id }: Pick<Task, "id">): Promise<Task> => {
    const task = await test_.store.tasks.byId(id);
    if (!task) throw new Error(`no task ${id}`);
    return task;
  };

  describe("a claim", () => {
    test("of a waiting task begins its turn with all its messages", async () => {
      const task = await putTask(test_.store, { fence: 4 }, [userMessage()]);
      const [claimed] = await claim([task]);
      expect(claimed).toMatchObject({
        id: task.id,
        nodeId: "n1",
        fence: 5,
        claims: 1,
        idleClaims: 0,
        consumedSeq: 1,
      });
    });

    test("of a task whose run was lost resumes its turn", async () => {
      const task = await putTask(test_.store, {
        nodeId: "dead",
        claims: 2,
        idleClaims: 1,
        lastSeq: 9,
        consumedSeq: 3,
      });
      const [claimed] = await claim([task]);
      expect(claimed).toMatchObject({ nodeId: "n1", claims: 3, idleClaims: 2, consumedSeq: 3 });
    });

    const changed: readonly {
      readonly why: string;
      readonly change: Partial<Pick<Task, "status" | "nodeId">>;
      readonly fence?: boolean;
    }[] = [
      { why: "ended", change: { status: "stopped" } },
      { why: "was claimed by another process", change: { nodeId: "n2" } },
      { why: "was claimed and released", change: {}, fence: true },
    ];
    test.each(changed)("leaves alone a task that $why since it was read", async ({ change, fence }) => {
      const seen = await putTask(test_.store, { nodeId: null }, [userMessage()]);
      await test_.store.change((tx) =>
        tx.tasks.advance(seen.id, { now, set: { ...change, ...(fence ? { raiseFence: true } : {}) } }),
      );
      const before = await readTask(seen);
      expect(await claim([seen])).toEqual([]);
      expect(await readTask(seen)).toEqual(before);
    });

    test("is won by one of many at once", async () => {
      const tasks = await Promise.all(Array.from({ length: 5 }, () => putTask(test_.store)));
      const won = await Promise.all(
        Array.from({ length: 8 }, (_, i) => claim(i % 2 ? tasks : tasks.toReversed(), `n${i}`)),
      );
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
      for (let i = 0; i < times; i += 1)
        expect(await claim([await readTask(task)]), `claim ${i + 1}`).toHaveLength(1);
    }

    test("are granted, and the next one ends the task in an internal error", async () => {
      const task = await putTask(test_.store, {}, [userMessage()]);
      await claimOften(task, idleClaimsMax);
      expect(await claim([await readTask(task)])).toEqual([]);
      expect(await readTask(task)).toMatchObject({ status: "error", nodeId: null, lastSeq: 3 });
      const [, error, status] = await test_.store.events.list(task.id, {
        order: "asc",
        limit: 10,
        verbose: true,
      });
      expect(error).toMatchObject({ type: "error_message", payload: { errorType: "internal" } });
      expect(status).toMatchObject({ type: "status_update", payload: { agentStatus: "error" } });
    });

    test("are counted again after an event, from the claim that wrote it", async () => {
      const task = await putTask(test_.store);
      await claimOften(task, idleClaimsMax);
      await test_.store.change((tx) => tx.tasks.advance(task.id, { now, events: [agentMessage()] }));
      await claimOften(task, idleClaimsMax - 1);
      expect(await claim([await readTask(task)])).toEqual([]);
    });
  });

  describe("releasing", () => {
    test("puts a task into the queue, and its run may write no more", async () => {
      const task = await putTask(test_.store, { nodeId: "n1", fence: 3, claims: 2 });
      await test_.store.change((tx) => releaseClaim(tx, [task], now));
      expect(await readTask(task)).toMatchObject({ status: "running", nodeId: null, fence: 4, claims: 2 });
    });

    test("in order does not count as an idle claim", async () => {
      const task = await putTask(test_.store, { nodeId: "n1", idleClaims: 20 });
      await test_.store.change((tx) => releaseClaim(tx, [task], now));
      expect(await readTask(task)).toMatchObject({ idleClaims: 0 });
    });

    test("leaves a task alone that another process has claimed", async () => {
      const seen = await putTask(test_.store, { nodeId: "n1" });
      await claim([seen], "n2");
      const before = await readTask(seen);
      await test_.store.change((tx) => releaseClaim(tx, [seen], now));
      expect(await readTask(seen)).toEqual(before);
    });
  });
});
