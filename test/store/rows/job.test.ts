import { describe, expect, test } from "vitest";
import { openTestStore } from "../../support/database.ts";

describe("jobs in SQLite's own table", () => {
  async function opened() {
    const database = await openTestStore("sqlite");
    const { store } = database;
    const put = (key: string, runAt: number) =>
      store.change((tx) => tx.jobs.put({ kind: "publish", key, runAt }));
    const take = (now: number, leaseUntil = now + 100, max = 9) =>
      store.change((tx) => tx.jobs.take("publish", now, leaseUntil, max));
    const done = (jobs: Awaited<ReturnType<typeof take>>) =>
      store.change((tx) => tx.jobs.done("publish", jobs));
    return { put, take, done, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
  }

  test("are taken when they are due, earliest first, and not again before the lease ends", async () => {
    await using jobs = await opened();
    await jobs.put("late", 30);
    await jobs.put("early", 10);
    await jobs.put("future", 31);
    expect(await jobs.take(30, 130, 1)).toEqual([{ kind: "publish", key: "early", runAt: 130 }]);
    expect(await jobs.take(30, 131)).toEqual([{ kind: "publish", key: "late", runAt: 131 }]);
    expect(await jobs.take(30)).toEqual([]);
    expect((await jobs.take(130)).map(({ key }) => key)).toEqual(["future", "early"]);
  });

  test("are one per key: the latest put sets the time", async () => {
    await using jobs = await opened();
    await jobs.put("a", 50);
    await jobs.put("a", 10);
    expect(await jobs.take(10)).toHaveLength(1);
    expect(await jobs.take(60)).toEqual([]);
  });

  test("are gone once they are done; one that was put again in the meantime stays", async () => {
    await using jobs = await opened();
    await jobs.put("a", 1);
    await jobs.put("b", 1);
    const taken = await jobs.take(1);
    await jobs.put("b", 2);
    await jobs.done(taken);
    expect((await jobs.take(1000)).map(({ key }) => key)).toEqual(["b"]);
  });

  test("that were taken again after their lease are not ended by the previous holder", async () => {
    await using jobs = await opened();
    await jobs.put("a", 1);
    const lost = await jobs.take(1, 100);
    const found = await jobs.take(100, 200);
    await jobs.done(lost);
    expect(await jobs.take(200, 300)).toHaveLength(1);
    await jobs.done(found);
    expect(await jobs.take(300)).toHaveLength(1);
  });

  test("are taken by one of many", async () => {
    await using jobs = await opened();
    await Promise.all(Array.from({ length: 30 }, (_, n) => jobs.put(`k${n}`, 1)));
    const taken = await Promise.all(Array.from({ length: 10 }, () => jobs.take(1, 100, 5)));
    const rest = await jobs.take(1, 100, 99);
    const keys = [...taken, rest].flat().map(({ key }) => key);
    expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted());
    expect(keys).toHaveLength(30);
    await jobs.done([...taken, rest].flat());
    expect(await jobs.take(1000)).toEqual([]);
  });
});
