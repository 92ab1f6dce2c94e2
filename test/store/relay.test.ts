import { Client } from "pg";
import { describe, expect, test, vi } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import type { Store, TaskNews } from "../../src/core/store.ts";
import { openStore } from "../../src/store/open.ts";
import { openRelay } from "../../src/store/relay.ts";
import { databaseUrl, postgresTemplate, rowsIn, runOn, type TestDatabase } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";
import { putTask, said, sampleTask, userMessage } from "./samples.ts";

/** A store, and all that its feed has told. */
interface Listener {
  readonly store: Store;
  readonly heard: (TaskNews | string)[];
}

/** Two processes on one database. */
interface Pair extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly one: Listener;
  readonly other: Listener;
}

const log = vi.fn();

async function listener({ url }: TestDatabase, clock: Clock = systemClock): Promise<Listener> {
  const store = await openStore({ databaseUrl: url, clock, random: systemRandom, log });
  const heard: Listener["heard"] = [];
  store.feed.onTask((news) => void heard.push(news));
  store.feed.onJob((kind) => void heard.push(`job ${kind}`));
  store.feed.onLost(() => void heard.push("lost"));
  return { store, heard };
}

async function openPair(clock?: Clock): Promise<Pair> {
  const database = await databaseUrl("postgresql");
  const [one, other] = [await listener(database, clock), await listener(database, clock)];
  return {
    ...{ database, one, other },
    async [Symbol.asyncDispose]() {
      for (const { store } of [one, other]) await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** What comes after everything that was told before it: a task named by a mark, which is left out. */
async function until({ heard }: Listener, mark: string): Promise<Listener["heard"]> {
  const isMark = (told: TaskNews | string) => typeof told === "object" && told.taskId === mark;
  await vi.waitFor(() => expect(heard.some(isMark)).toBe(true), { timeout: hangMs });
  return heard.filter((told) => !isMark(told));
}

const signal = ({ store }: Listener, mark: string) => putTask(store, { id: mark });

const listening = "FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^(LISTEN|SELECT pg_notify)'";
const cutting = (query: string) => `SELECT pg_terminate_backend(pid) ${query}`;

describe.skipIf(postgresTemplate === undefined)("news between processes", () => {
  test("are told to the others after the commit, and to oneself once", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    await one.store.change(async (tx) => {
      const { id } = await tx.tasks.insert(sampleTask({ id: "t" }), [userMessage()]);
      await tx.tasks.advance(id, { now: 1, set: { raiseFence: true }, events: [said()] });
      await tx.jobs.put({ kind: "run", key: id, runAt: 1 });
    });
    await signal(one, "end");
    const news = [{ taskId: "t", lastSeq: 2, fence: 1, status: "running" }, "job run"];
    expect(await until(other, "end")).toEqual(news);
    await signal(other, "back");
    await until(one, "back");
    expect(one.heard).toEqual([...news, expect.objectContaining({ taskId: "end" }), expect.objectContaining({ taskId: "back" })]);
  });

  test("tell what is committed: whoever hears of an event can read it", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    const read = new Promise((resolve) => {
      other.store.feed.onTask(({ taskId }) => resolve(other.store.events.list(taskId, { order: "asc", limit: 9, verbose: true })));
    });
    await putTask(one.store, {}, [userMessage()]);
    expect(await read).toHaveLength(1);
  });

  test("of a change that was rolled back are told to nobody", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    const refused = one.store.change(async (tx) => {
      await tx.jobs.put({ kind: "run", key: "t", runAt: 1 });
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow("no");
    await signal(one, "end");
    expect(await until(other, "end")).toEqual([]);
  });

  test("of hundreds of changes at once all come, in fewer notifications than changes", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    const ear = await connected(pair.database);
    const notifications = vi.fn();
    ear.on("notification", notifications);
    await ear.query("LISTEN platform");
    await Promise.all(Array.from({ length: 300 }, (_, i) => putTask(one.store, { id: `many-${i}` })));
    await signal(one, "end");
    expect(await until(other, "end")).toHaveLength(300);
    await ear.query("SELECT 1");
    expect(notifications.mock.calls.length).toBeLessThan(200);
    await ear.end();
  });

  test("of one change with more tasks than a notification holds all come", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    await one.store.change(async (tx) => {
      for (let i = 0; i < 300; i += 1) await tx.tasks.insert(sampleTask({ id: `one-${i}` }), []);
    });
    await signal(one, "end");
    expect(await until(other, "end")).toHaveLength(300);
  });

  test("that are still to be sent are sent before a process ends", async () => {
    await using pair = await openPair();
    const third = await listener(pair.database);
    await putTask(third.store, { id: "last" });
    await third.store.close();
    await signal(pair.one, "end");
    expect(await until(pair.other, "end")).toEqual([expect.objectContaining({ taskId: "last" })]);
  });

  test("that cannot be read make a process look, whoever sent them", async () => {
    await using pair = await openPair();
    await runOn(pair.database.url, "NOTIFY platform, 'nonsense'");
    await vi.waitFor(() => expect(pair.one.heard).toEqual(["lost"]), { timeout: hangMs });
  });

  describe("when the connection is cut", () => {
    test("make whoever could not hear look again, and are heard from then on", async () => {
      await using pair = await openPair();
      const { database, one, other } = pair;
      log.mockClear();
      expect(await rowsIn(database.url, cutting(listening))).toHaveLength(2);
      await vi.waitFor(() => expect([one.heard, other.heard]).toEqual([["lost"], ["lost"]]), { timeout: hangMs });
      await signal(one, "end");
      expect(await until(other, "end")).toEqual(["lost"]);
      expect(log).toHaveBeenCalledWith("error", "the connection for news is gone", expect.anything());
    });

    test("and none can be made, are not needed for any call; tries grow rarer, and go on until one succeeds", async () => {
      const pauses: number[] = [];
      const clock: Clock = {
        ...systemClock,
        sleep(ms, signal) {
          pauses.push(ms);
          return systemClock.sleep(5, signal);
        },
      };
      await using pair = await openPair(clock);
      const { database, one, other } = pair;
      const allow = (connections: boolean) =>
        runOn(
          new URL("/postgres", database.url).href,
          `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} ALLOW_CONNECTIONS ${connections}`,
        );
      // The connections of calls are there, and stay.
      await putTask(one.store, { id: "before" });
      await other.store.tasks.byId("before");
      log.mockClear();
      const cut = await connected(database);
      await allow(false);
      await cut.query(cutting(listening));
      await vi.waitFor(() => expect(pauses.filter((ms) => ms === 5_000).length).toBeGreaterThan(4), { timeout: hangMs });
      expect(pauses.toSorted((a, b) => a - b).slice(0, 4)).toEqual([100, 100, 200, 200]);
      expect(log.mock.calls, "one line for each process").toHaveLength(2);
      await putTask(one.store, { id: "meanwhile" });
      expect(await other.store.tasks.byId("meanwhile")).not.toBeNull();
      await allow(true);
      await cut.end();
      await vi.waitFor(() => expect([one.heard, other.heard].every((heard) => heard.includes("lost"))).toBe(true), { timeout: hangMs });
      await signal(one, "end");
      await until(other, "end");
    });
  });

  test("are not heard by a process whose first try fails until a later one succeeds, and it starts all the same", async () => {
    await using database = await databaseUrl("postgresql");
    const told = { tell: vi.fn(), lose: vi.fn() };
    const failed = vi.fn();
    const away = new URL(database.url);
    away.port = "1";
    const sleeping = Promise.withResolvers<void>();
    const clock: Clock = {
      ...systemClock,
      sleep(_, signal) {
        sleeping.resolve();
        return systemClock.sleep(60_000, signal);
      },
    };
    const relay = await openRelay({ databaseUrl: away.href, clock, told, failed });
    await sleeping.promise;
    expect(failed).toHaveBeenCalledTimes(1);
    expect(told.lose).not.toHaveBeenCalled();
    await relay.close();
  });
});

async function connected({ url }: TestDatabase): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  return client;
}
