import { expect, test, vi } from "vitest";
import { Failure, failureOf } from "../../src/core/failure.ts";
import type { Tx } from "../../src/core/store.ts";
import { backoffMs } from "../../src/store/change.ts";
import { describeOnEach, openTestStore } from "../support/database.ts";
import { pendingJobs } from "../support/jobs.ts";
import { agentMessage, ann, putTask, sampleProject, sampleTask } from "./samples.ts";

/** Long enough for the statements of another change, if it runs in this time. */
const turns = async () => {
  for (let turn = 0; turn < 5000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describeOnEach("change", (kind) => {
  test("is complete once it resolves, and leaves nothing once it rejects", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const write = async (tx: Tx, id: string) => {
      await tx.tasks.insert(sampleTask({ id }), [agentMessage()]);
      await tx.projects.insert(sampleProject({ id }));
      await tx.jobs.put({ kind: "publish", key: id, runAt: 1 });
    };
    await store.change((tx) => write(tx, "kept"));
    const refusal = new Failure("failed_precondition", "no");
    const refused = store.change(async (tx) => {
      await write(tx, "lost");
      throw refusal;
    });
    await expect(refused).rejects.toBe(refusal);
    expect((await store.projects.list(ann)).map(({ id }) => id)).toEqual(["kept"]);
    expect(await store.tasks.byId("lost")).toBeNull();
    expect(await store.events.list("lost", { order: "asc", limit: 9, verbose: true })).toEqual([]);
    expect(await pendingJobs(database)).toEqual(["kept"]);
  });

  test("sees its own writes", async () => {
    await using database = await openTestStore(kind);
    const seen = await database.store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "mine" }));
      return tx.projects.find(ann, "mine");
    });
    expect(seen).toMatchObject({ id: "mine" });
  });

  test("within a change is an error, not a deadlock; one that follows it is not within it", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await expect(store.change(() => store.change(async () => 1))).rejects.toThrow("a change within a change");
    let follow: (() => Promise<number>) | undefined;
    await store.change(async () => {
      const { resolve, promise } = Promise.withResolvers<void>();
      const later = promise.then(() => store.change(async () => 2));
      follow = () => {
        resolve();
        return later;
      };
    });
    expect(await follow?.()).toBe(2);
  });

  test("ends its transaction: a `tx` that was kept cannot write", async () => {
    await using database = await openTestStore(kind);
    let kept: Tx | undefined;
    await database.store.change(async (tx) => {
      kept = tx;
    });
    await expect(kept?.projects.insert(sampleProject({ id: "late" }))).rejects.toThrow();
    expect(await database.store.projects.find(ann, "late")).toBeNull();
  });

  test("fifty at once that read, then write what they read, lose no update", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putTask(store, { id: "t", title: "0" });
    await Promise.all(
      Array.from({ length: 50 }, () =>
        store.change(async (tx) => {
          const task = await tx.tasks.lock(ann, "t");
          await tx.tasks.advance("t", { now: 1, set: { title: String(Number(task?.title) + 1) } });
        }),
      ),
    );
    expect(await store.tasks.byId("t")).toMatchObject({ title: "50" });
  });

  test("changes that block each other are retried until each commits", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putTask(store, { id: "a" });
    await putTask(store, { id: "b" });
    let runs = 0;
    const both = (first: string, second: string) =>
      store.change(async (tx) => {
        runs += 1;
        await tx.tasks.advance(first, { now: 1, events: [agentMessage()] });
        await tx.tasks.advance(second, { now: 1, events: [agentMessage()] });
      });
    await Promise.all([both("a", "b"), both("b", "a"), both("a", "b"), both("b", "a")]);
    expect(await store.tasks.byId("a")).toMatchObject({ lastSeq: 4 });
    expect(await store.tasks.byId("b")).toMatchObject({ lastSeq: 4 });
    expect(runs).toBeGreaterThanOrEqual(4);
  });

  test("a conflict on a unique value is retried, and the retry finds the winner's row", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const looked = Promise.withResolvers<void>();
    const make = (id: string, before: () => unknown, after: () => unknown) =>
      store.change(async (tx) => {
        const found = await tx.accounts.teamByName("South");
        if (found) return found.id;
        await before();
        await tx.accounts.insertSpace({ id, kind: "team", createdAt: 1, accountId: null });
        await tx.accounts.insertTeam({ id, spaceId: id, name: "South", createdAt: 1 });
        await after();
        return id;
      });
    // Both read before the first commits, unless the second has to wait.
    const first = make(
      "x",
      () => undefined,
      () => Promise.race([looked.promise, turns()]),
    );
    const second = make("y", looked.resolve, () => undefined);
    expect(new Set(await Promise.all([first, second])).size).toBe(1);
  });

  test("a driver's error is passed on without its text", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => tx.projects.insert(sampleProject({ id: "twice" })));
    const thrown = await store
      .change((tx) => tx.projects.insert(sampleProject({ id: "twice" })))
      .catch(failureOf);
    expect(thrown).toMatchObject({ reason: "internal", message: "internal error" });
    expect((thrown as Failure).cause).toBeDefined();
    const outside = await store.projects.insert(sampleProject()).catch((refused: unknown) => refused);
    expect(outside).toMatchObject({ name: "Failure", message: "internal error" });
  });

  test("one that does not end is aborted, and the next commits", async () => {
    await using database = await openTestStore(kind, { changeMs: 100 });
    const { store } = database;
    const held = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    const stuck = store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "stuck" }));
      late = held.promise.then(() => tx.projects.insert(sampleProject({ id: "late" })));
      await late;
    });
    await expect(stuck).rejects.toMatchObject({ reason: "unavailable" });
    await store.change((tx) => tx.projects.insert(sampleProject({ id: "next" })));
    held.resolve();
    await expect(late).rejects.toThrow();
    expect((await store.projects.list(ann)).map(({ id }) => id)).toEqual(["next"]);
  });

  test("an error of its work is passed on unchanged", async () => {
    await using database = await openTestStore(kind);
    const mistake = new TypeError("mine");
    await expect(database.store.change(() => Promise.reject(mistake))).rejects.toBe(mistake);
  });

  test("work after a commit is done before the change resolves, and cannot undo it", async () => {
    const log = vi.fn();
    await using database = await openTestStore(kind, { log });
    const { store } = database;
    const seen: unknown[] = [];
    await store.change(async (tx) => {
      tx.afterCommit(async () => void seen.push(await store.projects.find(ann, "p")));
      tx.afterCommit(() => Promise.reject(new Error("late")));
      tx.afterCommit(() => store.change((next) => next.projects.insert(sampleProject({ id: "q" }))));
      await tx.projects.insert(sampleProject({ id: "p" }));
      expect(seen).toEqual([]);
    });
    expect(seen).toMatchObject([{ id: "p" }]);
    expect(await store.projects.find(ann, "q")).not.toBeNull();
    expect(log).toHaveBeenCalledWith("error", expect.any(String), { cause: new Error("late") });
    const never = vi.fn();
    await store
      .change(async (tx) => tx.afterCommit(never))
      .then(() => expect(never).toHaveBeenCalledTimes(1));
    const refused = store.change(async (tx) => {
      tx.afterCommit(never);
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow();
    expect(never).toHaveBeenCalledTimes(1);
  });
});

test("the pause before a retry grows, is never zero and stays short", () => {
  const least = Array.from({ length: 10 }, (_, n) => backoffMs(n + 1, () => Uint8Array.of(0)));
  const most = Array.from({ length: 10 }, (_, n) => backoffMs(n + 1, () => Uint8Array.of(255)));
  expect(Math.min(...least)).toBeGreaterThan(0);
  expect(most.slice(0, 5)).toEqual([10, 20, 40, 80, 160]);
  expect(Math.max(...most)).toBe(160);
});
