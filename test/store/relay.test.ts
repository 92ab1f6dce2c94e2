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
import { agentMessage, putTask, sampleTask, userMessage } from "./samples.ts";

/** A store, and everything that its feed has reported. */
interface Listener {
  readonly store: Store;
  readonly received: (TaskNews | string)[];
}

/** Two processes on one database. */
interface Pair extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly one: Listener;
  readonly other: Listener;
}

const log = vi.fn();

async function openListener({ url }: TestDatabase, clock: Clock = systemClock): Promise<Listener> {
  const store = await openStore({ databaseUrl: url, clock, random: systemRandom, log });
  const received: Listener["received"] = [];
  store.feed.onTask((news) => void received.push(news));
  store.feed.onJob((kind) => void received.push(`job ${kind}`));
  store.feed.onLost(() => void received.push("lost"));
  return { store, received: received };
}

async function openPair(clock?: Clock): Promise<Pair> {
  const database = await databaseUrl("postgresql");
  const [one, other] = [await openListener(database, clock), await openListener(database, clock)];
  return {
    ...{ database, one, other },
    async [Symbol.asyncDispose]() {
      for (const { store } of [one, other]) await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The news before the mark, a task that is left out of the result. */
async function until({ received }: Listener, mark: string): Promise<Listener["received"]> {
  const isMark = (item: TaskNews | string) => typeof item === "object" && item.taskId === mark;
  await vi.waitFor(() => expect(received.some(isMark)).toBe(true), { timeout: hangMs });
  return received.filter((item) => !isMark(item));
}

const sendMark = ({ store }: Listener, mark: string) => putTask(store, { id: mark });

const listening =
  "FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^(LISTEN|SELECT pg_notify)'";
const terminate = (query: string) => `SELECT pg_terminate_backend(pid) ${query}`;

describe.skipIf(postgresTemplate === undefined)("news between processes", () => {
  test("are sent to the others after the commit, and to the sender once", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    await one.store.change(async (tx) => {
      const { task } = await tx.tasks.insert(sampleTask({ id: "t" }), [userMessage()]);
      await tx.tasks.advance(task.id, { now: 1, set: { raiseFence: true }, events: [agentMessage()] });
      await tx.jobs.put({ kind: "run", key: task.id, runAt: 1 });
    });
    await sendMark(one, "end");
    const news = [
      { taskId: "t", lastSeq: 2, fence: 1, status: "running", spaceId: "north", accountId: "ann" },
      "job run",
    ];
    expect(await until(other, "end")).toEqual(news);
    await sendMark(other, "back");
    await until(one, "back");
    expect(one.received).toEqual([
      ...news,
      expect.objectContaining({ taskId: "end" }),
      expect.objectContaining({ taskId: "back" }),
    ]);
  });

  test("are about committed events: every receiver can read them", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    const read = new Promise((resolve) => {
      other.store.feed.onTask(({ taskId }) =>
        resolve(other.store.events.list(taskId, { order: "asc", limit: 9, verbose: true })),
      );
    });
    await putTask(one.store, {}, [userMessage()]);
    expect(await read).toHaveLength(1);
  });

  test("of a change that was rolled back are not sent", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    const refused = one.store.change(async (tx) => {
      await tx.jobs.put({ kind: "run", key: "t", runAt: 1 });
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow("no");
    await sendMark(one, "end");
    expect(await until(other, "end")).toEqual([]);
  });

  test("of hundreds of simultaneous changes all arrive", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    await Promise.all(Array.from({ length: 300 }, (_, i) => putTask(one.store, { id: `many-${i}` })));
    await sendMark(one, "end");
    expect(await until(other, "end")).toHaveLength(300);
  });

  test("of changes that end in one turn of the event loop are sent together", async () => {
    await using database = await databaseUrl("postgresql");
    const client = await connected(database);
    const notifications = vi.fn();
    client.on("notification", notifications);
    await client.query("LISTEN platform");
    const notified = { publish: vi.fn(), reportLoss: vi.fn() };
    const relay = await openRelay({
      databaseUrl: database.url,
      clock: systemClock,
      notified,
      failed: log,
      listenerFailed: log,
    });
    for (let i = 0; i < 300; i += 1) {
      const taskId = `many-${i}`;
      relay.send({
        news: new Map([[taskId, { taskId, lastSeq: 1, fence: 0, status: "running" }]]),
        jobKinds: new Set(),
      });
    }
    await relay.close();
    await client.query("SELECT 1");
    const sent = notifications.mock.calls.flatMap(([{ payload }]) => JSON.parse(payload).tasks);
    expect(sent).toHaveLength(300);
    expect(notifications.mock.calls.length).toBeLessThan(5);
    await client.end();
  });

  test("of one change with more tasks than a notification holds all arrive", async () => {
    await using pair = await openPair();
    const { one, other } = pair;
    await one.store.change(async (tx) => {
      for (let i = 0; i < 300; i += 1) await tx.tasks.insert(sampleTask({ id: `one-${i}` }), []);
    });
    await sendMark(one, "end");
    expect(await until(other, "end")).toHaveLength(300);
  });

  test("that are pending are sent before a process ends", async () => {
    await using pair = await openPair();
    const third = await openListener(pair.database);
    await putTask(third.store, { id: "last" });
    await third.store.close();
    await sendMark(pair.one, "end");
    expect(await until(pair.other, "end")).toEqual([expect.objectContaining({ taskId: "last" })]);
  });

  test("that cannot be parsed make a process poll", async () => {
    await using pair = await openPair();
    await runOn(pair.database.url, "NOTIFY platform, 'nonsense'");
    await vi.waitFor(() => expect(pair.one.received).toEqual(["lost"]), { timeout: hangMs });
  });

  describe("when the connection is cut", () => {
    test("make every process that missed them poll, and are received from then on", async () => {
      await using pair = await openPair();
      const { database, one, other } = pair;
      log.mockClear();
      expect(await rowsIn(database.url, terminate(listening))).toHaveLength(2);
      await vi.waitFor(() => expect([one.received, other.received]).toEqual([["lost"], ["lost"]]), {
        timeout: hangMs,
      });
      await sendMark(one, "end");
      expect(await until(other, "end")).toEqual(["lost"]);
      expect(log).toHaveBeenCalledWith("error", "the connection for news is gone", expect.anything());
    });

    test("are not needed for any call while no connection can be made; retries become less frequent, and continue until one succeeds", async () => {
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
      // The connections of calls exist and stay open.
      await putTask(one.store, { id: "before" });
      await other.store.tasks.byId("before");
      log.mockClear();
      const cut = await connected(database);
      await allow(false);
      await cut.query(terminate(listening));
      await vi.waitFor(() => expect(pauses.filter((ms) => ms === 5_000).length).toBeGreaterThan(4), {
        timeout: hangMs,
      });
      expect(pauses.toSorted((a, b) => a - b).slice(0, 4)).toEqual([100, 100, 200, 200]);
      expect(log.mock.calls, "one line for each process").toHaveLength(2);
      await putTask(one.store, { id: "meanwhile" });
      expect(await other.store.tasks.byId("meanwhile")).not.toBeNull();
      await allow(true);
      await cut.end();
      await vi.waitFor(
        () =>
          expect([one.received, other.received].every((received) => received.includes("lost"))).toBe(true),
        {
          timeout: hangMs,
        },
      );
      await sendMark(one, "end");
      await until(other, "end");
    });
  });

  test("are not received by a process whose first connection fails until a retry succeeds, and it starts nevertheless", async () => {
    await using database = await databaseUrl("postgresql");
    const listener = { publish: vi.fn(), reportLoss: vi.fn() };
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
    const relay = await openRelay({
      databaseUrl: away.href,
      clock,
      notified: listener,
      failed,
      listenerFailed: failed,
    });
    await sleeping.promise;
    expect(failed).toHaveBeenCalledTimes(1);
    expect(listener.reportLoss).not.toHaveBeenCalled();
    await relay.close();
  });
});

async function connected({ url }: TestDatabase): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  return client;
}
