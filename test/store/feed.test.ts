import { expect, test, vi } from "vitest";
import type { TaskNews } from "../../src/core/store.ts";
import { describeOnEach, openTestStore } from "../support/database.ts";
import { agentMessage, agentThought, putTask, sampleTask, userMessage } from "./samples.ts";

describeOnEach("feed", (kind) => {
  test("notifies after the commit, once per task, with its newest state", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const news: TaskNews[] = [];
    const kinds: string[] = [];
    store.feed.onTask((item) => void news.push(item));
    store.feed.onJob((item) => void kinds.push(item));
    await store.change(async (tx) => {
      await tx.tasks.insert(sampleTask({ id: "t" }), [userMessage()]);
      await tx.tasks.advance("t", {
        now: 1,
        set: { raiseFence: true },
        events: [agentThought(), agentMessage()],
      });
      await tx.jobs.put({ kind: "run", key: "t", runAt: 1 });
      await tx.jobs.put({ kind: "run", key: "u", runAt: 1 });
      expect([news, kinds]).toEqual([[], []]);
    });
    expect(news).toEqual([
      { taskId: "t", lastSeq: 3, fence: 1, status: "running", spaceId: "north", accountId: "ann" },
    ]);
    expect(kinds).toEqual(["run"]);
  });

  test("notifies of committed events: every listener can read them", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const read = new Promise((resolve) => {
      store.feed.onTask(({ taskId }) =>
        resolve(store.events.list(taskId, { order: "asc", limit: 9, verbose: true })),
      );
    });
    await putTask(store, {}, [userMessage()]);
    expect(await read).toHaveLength(1);
  });

  test("sends nothing for a change that was rolled back, or for a guard that did not hold", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putTask(store, { id: "t" });
    const listener = vi.fn();
    store.feed.onTask(listener);
    store.feed.onJob(listener);
    const refused = store.change(async (tx) => {
      await tx.tasks.advance("t", { now: 1, events: [agentMessage()] });
      await tx.jobs.put({ kind: "run", key: "t", runAt: 1 });
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow();
    await store.change((tx) =>
      tx.tasks.advance("t", { now: 1, when: { fence: 7 }, events: [agentMessage()] }),
    );
    expect(listener).not.toHaveBeenCalled();
  });

  test("notifies of a tombstone, so that watches end", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putTask(store, { id: "t" });
    const listener = vi.fn();
    store.feed.onTask(listener);
    await store.change((tx) => tx.tasks.tombstone("t", 1, false));
    expect(listener).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ taskId: "t", fence: 1 }));
  });

  test("a listener that throws is logged, and affects neither the change nor the other listeners", async () => {
    const log = vi.fn();
    await using database = await openTestStore(kind, { log });
    const { store } = database;
    const other = vi.fn();
    store.feed.onTask(() => {
      throw new Error("deaf");
    });
    store.feed.onTask(other);
    await expect(putTask(store, { id: "t" })).resolves.toBeDefined();
    expect(other).toHaveBeenCalledTimes(1);
    // Each change is logged at debug.
    expect(log.mock.calls.filter(([level]) => level !== "debug")).toEqual([
      ["error", expect.any(String), { cause: new Error("deaf") }],
    ]);
  });

  test("a removed listener receives nothing more; the same one added twice is called twice", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const listener = vi.fn();
    const forget = store.feed.onTask(listener);
    store.feed.onTask(listener);
    forget();
    await putTask(store);
    expect(listener).toHaveBeenCalledTimes(1);
  });
});
