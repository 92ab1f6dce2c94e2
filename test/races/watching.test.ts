import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeOnPostgres, halfFor } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { type WatchWire, watchWires } from "../support/watcher.ts";
import { numbersUpTo, seqsOf, step } from "../tasks/watch-rig.ts";
import { callCount } from "./race-rig.ts";
import { watchingRig } from "./watching-rig.ts";

/** The wires in rotation, for the i-th watcher. */
const wireOf = (i: number): WatchWire => watchWires[i % watchWires.length] ?? "sse";
const all = <T>(count: number, work: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => work(i));

/** A connection that is cut after `after` events, and the way in which it resumes. */
interface Cut {
  readonly wire: WatchWire;
  readonly through: number;
  readonly after: number;
  readonly byHeader: boolean;
}

const cuts = fc.array(
  fc.record<Cut>({
    wire: fc.constantFrom(...watchWires),
    through: fc.nat(1),
    after: fc.nat(6),
    byHeader: fc.boolean(),
  }),
  { maxLength: 8 },
);
/** Events of each transaction. */
const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 12 });

describeOnPostgres("watching", (kind) => {
  const rig = watchingRig(kind);
  // Connect writes its warnings here.
  beforeAll(() => void vi.spyOn(console, "error"));
  afterAll(() => {
    expect(console.error).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  /** Writes these transactions and ends the turn; returns the number of the last event. */
  async function produce(id: string, transactions: readonly number[]): Promise<number> {
    for (const size of transactions)
      await rig.write(
        id,
        all(size, () => step()),
      );
    await rig.write(
      id,
      [{ type: "status_update", payload: { agentStatus: "stopped", brief: "Done" } }],
      "stopped",
    );
    return 3 + transactions.reduce((sum, size) => sum + size, 0);
  }

  /** Follows a task to its end over connections that are cut; returns the numbers of the received events. */
  async function follow(taskId: string, connections: readonly Cut[]): Promise<number[]> {
    const received: number[] = [];
    const last: Cut = { wire: "sse", through: 1, after: Number.POSITIVE_INFINITY, byHeader: false };
    for (const { wire, through, after, byHeader } of [...connections, last]) {
      const seen = received.at(-1) ?? 0;
      const from = byHeader && wire.startsWith("sse") ? { lastEventId: `${seen}` } : { afterSeq: seen };
      const watching = rig.watch(wire, { taskId, untilSettled: true, ...from }, through);
      if (after < Number.POSITIVE_INFINITY)
        await Promise.race([watching.until(after).catch(() => undefined), watching.end]);
      else expect(await watching.end).toBe("ok");
      received.push(...seqsOf(watching));
      watching.close();
    }
    return received;
  }

  test("that is cut repeatedly misses nothing and repeats nothing, over every wire that it resumes on", async () => {
    await fc.assert(
      fc.asyncProperty(cuts, sizes, async (connections, transactions) => {
        const id = await rig.create();
        const [received, last] = await Promise.all([follow(id, connections), produce(id, transactions)]);
        expect(received).toEqual(numbersUpTo(last));
      }),
      { numRuns: sample(25, 8), endOnFailure: true },
    );
  });

  test.each(
    halfFor(kind, watchWires),
  )("through another process receives over %s within a second the events that this one has written", async (wire) => {
    const id = await rig.create();
    const watching = rig.watch(wire, { taskId: id }, 1);
    await watching.until(2);
    for (const count of [3, 4, 5]) {
      await rig.write(id, [step()]);
      await watching.until(count);
    }
    await rig.remove(id);
    expect(await watching.end).toBe("not_found: task not found");
  });

  test(`by ${callCount} at once sends all of them the same events`, async () => {
    const id = await rig.create();
    const watchers = all(callCount, (i) => rig.watch(wireOf(i), { taskId: id, untilSettled: true }, i));
    const last = await produce(id, [3, 1, 4, 1, 5, 9, 2, 6]);
    expect(await Promise.all(watchers.map(({ end }) => end))).toEqual(watchers.map(() => "ok"));
    for (const watching of watchers) expect(watching.events).toEqual(watchers[0]?.events);
    expect(watchers[0] && seqsOf(watchers[0])).toEqual(numbersUpTo(last));
  });

  test(`by ${callCount} at once ends for all of them when the task is deleted`, async () => {
    const id = await rig.create();
    const watchers = all(callCount, (i) => rig.watch(wireOf(i), { taskId: id }, i));
    await Promise.all(watchers.map(({ until }) => until(2)));
    await rig.remove(id);
    expect(await Promise.all(watchers.map(({ end }) => end))).toEqual(
      watchers.map(() => "not_found: task not found"),
    );
  });

  test(`${callCount} tasks that are deleted at that moment ends with not_found, before or after the first event`, async () => {
    const ids = await Promise.all(all(callCount, () => rig.create()));
    const watchers = ids.map((taskId, i) => rig.watch(wireOf(i), { taskId, untilSettled: false }, i));
    await Promise.all(ids.map(rig.remove));
    for (const { end } of watchers) expect(await end).toMatch(/^not_found: task not found( \(404\))?$/);
  });

  test(`by ${callCount} that disconnect at any moment affects no other watch`, async () => {
    const id = await rig.create();
    const stays = rig.watch("grpc", { taskId: id, untilSettled: true }, 1);
    const leaving = all(callCount, async (i) => {
      const watching = rig.watch(wireOf(i), { taskId: id }, i);
      for (let turns = 0; turns < i * 3; turns += 1) await turn();
      watching.close();
      await watching.end;
    });
    const last = await produce(id, [1, 2, 3, 4, 5, 6]);
    await Promise.all(leaving);
    expect(await stays.end).toBe("ok");
    expect(seqsOf(stays)).toEqual(numbersUpTo(last));
  });
});
