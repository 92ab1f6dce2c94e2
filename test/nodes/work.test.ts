import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { postgresTemplate } from "../support/database.ts";
import { checkAnswered, taskInStore } from "../support/invariants.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

const test = sampledTest(2);

/** Every node polls once in this interval. */
const lookMs = 1_000;

/** A clock whose long sleeps wait for `advance`; sleeps shorter than the poll interval end at once. */
const napping = (clock: StillClock): Clock => ({
  ...clock,
  sleep: (ms, signal) => (ms < lookMs ? turn() : clock.sleep(ms, signal)),
});

describe.skipIf(postgresTemplate === undefined)("a node that takes calls and one that works", () => {
  let clock: StillClock;
  let service: Service;
  let ann: Person;

  beforeEach(async () => {
    clock = stillClock();
    service = await openService({
      database: "postgresql",
      roles: ["api", "worker"],
      clock: napping(clock),
      env: { RUN_CONCURRENCY: "1" },
    });
    ann = await service.person();
  });
  afterEach(async () => {
    let over = false;
    const closed = Promise.resolve(service[Symbol.asyncDispose]()).finally(() => {
      over = true;
    });
    for (; !over; await turn()) await clock.advance(100);
    await closed;
  });

  async function create(content: string): Promise<string> {
    const { body } = await ann.v2("task.create", { message: { content } });
    return String(body["task_id"]);
  }

  async function until(
    id: string,
    holds: (task: { nodeId: string | null; status: string }) => boolean,
  ): Promise<void> {
    for (;;) {
      const task = await service.store.tasks.byId(id);
      if (task && holds(task)) return;
    }
  }

  test("the worker is woken at once by a call to the other node, runs that the other stops end at once, and the next begins", async () => {
    const first = await create("[[forever]]");
    await until(first, ({ nodeId }) => nodeId !== null);
    const second = await create("[[forever]]");
    expect(await service.store.tasks.byId(second), "there is room for one").toMatchObject({ nodeId: null });
    expect((await ann.v2("task.stop", { task_id: first })).status).toBe(200);
    await until(second, ({ nodeId }) => nodeId !== null);
    expect(clock.monotonic(), "no user has looked by himself").toBe(0);
    checkAnswered(await taskInStore(service.store, first));
  });

  test("the worker answers a message that the other node received, and the other shows the answer", async () => {
    const id = await create("[[ask Which one?]] [[say That one]]");
    await until(id, ({ status }) => status === "waiting");
    expect((await ann.v2("task.sendMessage", { task_id: id, message: { content: "This" } })).status).toBe(
      200,
    );
    await until(id, ({ status }) => status === "stopped");
    const { body } = await ann.v2("task.listMessages", { task_id: id, order: "asc" });
    expect(JSON.stringify(body)).toContain("That one");
    expect(clock.monotonic()).toBe(0);
    checkAnswered(await taskInStore(service.store, id));
  });
});

describe.skipIf(postgresTemplate === undefined)("a node that takes calls only", () => {
  test("runs nothing, however long it waits", async () => {
    const clock = stillClock();
    await using service = await openService({ database: "postgresql", roles: ["api"], clock });
    const ann = await service.person();
    const { body } = await ann.v2("task.create", { message: { content: "Hello" } });
    for (let round = 0; round < 30; round += 1) {
      await clock.advance(1_000);
      await service.store.ping();
    }
    expect(await service.store.tasks.byId(body["task_id"])).toMatchObject({
      nodeId: null,
      claims: 0,
      status: "running",
    });
    expect(await service.store.nodes.list()).toEqual([]);
  });
});
