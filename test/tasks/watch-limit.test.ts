import { describe, expect, test } from "vitest";
import { openTestStore } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { openService, type Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type Watcher, type WatchWire, watcher, watchWires } from "../support/watcher.ts";
import { untilTrue, watchRig } from "./watch-rig.ts";

const limit = 2;
const full = /^resource_exhausted: 2 held calls and watches of this account are open already( \(429\))?$/;

describe("the slots of an account, WATCH_LIMIT of them,", () => {
  const rig = watchRig("sqlite", { WATCH_LIMIT: String(limit) });

  /** A person whose slots are all free. */
  const bo = () => rig.service.person({ with: rig.ann });

  /** Opens as many watches as there are slots. */
  async function fill(
    who: Person,
    wire: WatchWire = "sse",
  ): Promise<{ readonly id: string; readonly watches: readonly Watcher[] }> {
    const id = await rig.create(who);
    const watches = Array.from({ length: limit }, () => rig.watch(wire, { taskId: id }, who));
    await Promise.all(watches.map(({ until }) => until(2)));
    return { id, watches };
  }

  /** Whether a watch gets a slot; releases it again. */
  async function isFree(who: Person, taskId: string): Promise<boolean> {
    const watch = rig.watch("sse", { taskId }, who);
    const free = await Promise.race([watch.until(1).then(() => true), watch.end.then(() => false)]).catch(
      () => false,
    );
    watch.close();
    await watch.end;
    await rig.untilQuiet();
    return free;
  }

  /** A disconnect is noticed when the socket closes. */
  async function expectFree(who: Person, taskId: string): Promise<void> {
    await rig.untilQuiet();
    await untilTrue(() => isFree(who, taskId));
  }

  describe.each(watchWires)("over %s", (wire) => {
    test("are occupied by watches: the next one is refused before the first byte, with any key", async () => {
      const who = await bo();
      const { id } = await fill(who, wire);
      const other = await rig.service.person({ as: who, with: rig.ann });
      for (const key of [who, other]) {
        const refused = rig.watch(wire, { taskId: id }, key);
        expect(await refused.end).toMatch(full);
        expect(refused.events).toEqual([]);
      }
    });

    test("belong to one account only", async () => {
      await fill(await bo(), wire);
      await fill(await bo(), wire);
    });

    test("are free again when a client disconnects", async () => {
      const who = await bo();
      const { id, watches } = await fill(who, wire);
      expect(await isFree(who, id)).toBe(false);
      watches[0]?.close();
      await expectFree(who, id);
    });

    test("are free again when a watch has ended, normally or not", async () => {
      const who = await bo();
      const id = await rig.create(who);
      const ends = [
        rig.watch(wire, { taskId: id, untilSettled: true }, who),
        rig.watch(wire, { taskId: id }, who),
      ];
      await Promise.all(ends.map(({ until }) => until(2)));
      await rig.remove(id, who);
      await Promise.all(ends.map(({ end }) => end));
      const { id: next } = await fill(who, wire);
      expect(await isFree(who, next)).toBe(false);
    });

    test("are free again after refusals, and after clients that disconnect early", async () => {
      const who = await bo();
      const id = await rig.create(who);
      for (const taskId of ["nobody", "", id, "nobody", id, id, id]) {
        const watch = rig.watch(wire, { taskId }, who);
        if (taskId !== id) await watch.end;
        // The test does not wait for the answer either.
        watch.close();
        await watch.end;
      }
      await expectFree(who, id);
      await rig.untilQuiet();
      expect((await fill(who, wire)).watches).toHaveLength(limit);
    });

    test("are not occupied by calls that are answered immediately", async () => {
      const who = await bo();
      const { id } = await fill(who, wire);
      const settled = await rig.create(who);
      await rig.settle(settled);
      const empty = rig.watch(wire, { taskId: settled, afterSeq: 4, untilSettled: true }, who);
      expect([await empty.end, empty.events]).toEqual(["ok", []]);
      for (const [name, query] of [
        ["task.detail", { task_id: id, after_seq: 1, wait_seconds: 60 }],
        ["task.detail", { task_id: settled, wait_seconds: 60 }],
        ["task.listMessages", { task_id: id, after_seq: 1, wait_seconds: 60 }],
      ] as const) {
        expect((await who.v2(name, query)).status).toBe(200);
      }
    });
  });

  test("are occupied by held calls too, while they are held", async () => {
    const who = await bo();
    const id = await rig.create(who);
    const hold = () => who.v2("task.detail", { task_id: id, wait_seconds: 60 });
    const held = Array.from({ length: limit }, hold);
    await rig.untilStatements(limit);
    await rig.untilQuiet();
    const refused = await hold();
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "resource_exhausted" } } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await rig.watch("grpc", { taskId: id }, who).end).toMatch(full);
    await rig.settle(id);
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    await fill(who);
  });

  test("are free again when the caller of a held call disconnects, or its time is over", async () => {
    const who = await bo();
    const id = await rig.create(who);
    const disconnect = new AbortController();
    const headers = { "x-service-api-key": who.key };
    const abortedCall = fetch(`${rig.service.url}/v2/task.detail?task_id=${id}&wait_seconds=60`, {
      headers,
      signal: disconnect.signal,
    });
    const over = who.v2("task.detail", { task_id: id, wait_seconds: 1 });
    await rig.untilStatements(2);
    await rig.untilQuiet();
    expect(await isFree(who, id)).toBe(false);
    disconnect.abort();
    await expect(abortedCall).rejects.toThrow();
    await rig.clock.advance(1_000);
    expect((await over).status).toBe(200);
    await rig.untilQuiet();
    await fill(who);
  });
});

test.each(
  watchWires,
)("an error during a watch over %s is reported only as an internal error, is logged, and releases its slot", async (wire) => {
  const secret = "row 17 of accounts holds sk-secret";
  const clock = stillClock();
  await using db = await openTestStore("sqlite", { clock });
  let broken = false;
  const store = storeWithFaults(db.store, "tasks", (rows) => ({
    async find(scope, id) {
      if (broken) throw new Error(secret);
      return rows.find(scope, id);
    },
  }));
  await using service = await openService({
    idle: true,
    clock,
    env: { WATCH_LIMIT: "1" },
    over: { store, url: db.url },
  });
  const ann = await service.person();
  const { body } = await ann.v2("task.create", { message: { content: "Hello" } });
  const watch = watcher(service.url, ann, wire, { taskId: body["task_id"] });
  await watch.until(2);
  broken = true;
  await clock.advance(5_000);
  expect(await watch.end).toBe("internal: internal error");
  expect(service.problems).toMatchObject([
    {
      level: "error",
      text: "a call failed",
      fields: { requestId: (await watch.headers).get("x-request-id") },
    },
  ]);
  expect(String(service.problems[0]?.fields["cause"])).toContain(secret);
  broken = false;
  const next = watcher(service.url, ann, wire, { taskId: body["task_id"] });
  await next.until(2);
  next.close();
  await next.end;
});
