import { describe, expect, test } from "vitest";
import { type DispatchedWork, startDispatcher } from "../../src/async/dispatcher.ts";
import { stillClock } from "../support/still-clock.ts";

interface Item {
  readonly id: number;
  readonly holder: string;
}

/** A queue of items in memory, and attempts that end when the test ends them. */
function rigOf(items: Item[], more: Partial<DispatchedWork<Item, number>> = {}) {
  const clock = stillClock();
  const logged: string[] = [];
  const recorded: number[] = [];
  const running = new Map<number, (outcome: number | undefined) => void>();
  const started: number[] = [];
  const dispatcher = startDispatcher<Item, number>({
    clock,
    log: (_, text) => void logged.push(text),
    name: "items",
    everyMs: 1_000,
    limits: { max: 3, perHolder: 2 },
    holderOf: ({ holder }) => holder,
    async round({ free, fitting }, outcomes) {
      recorded.push(...outcomes);
      const taken = fitting(items, ({ holder }) => holder).slice(0, free);
      for (const item of taken) items.splice(items.indexOf(item), 1);
      return { taken, more: taken.length > 0 };
    },
    attempt({ id }, { aborting }) {
      started.push(id);
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      running.set(id, resolve);
      aborting.addEventListener("abort", () => resolve(-id));
      return promise;
    },
    ...more,
  });
  return {
    clock,
    dispatcher,
    logged,
    recorded,
    started,
    end: (id: number, outcome?: number) => running.get(id)?.(outcome),
  };
}

const of = (...holders: string[]): Item[] => holders.map((holder, index) => ({ id: index + 1, holder }));

describe("a dispatcher", () => {
  test("begins at most what its limits allow, in all and for each holder", async () => {
    const { started, dispatcher, end } = rigOf(of("a", "a", "a", "b", "c"));
    await expect.poll(() => started).toEqual([1, 2, 4]);
    expect(dispatcher.hasCapacity()).toBe(false);
    end(1);
    await expect.poll(() => started).toEqual([1, 2, 4, 3]);
    end(4);
    await expect.poll(() => started).toEqual([1, 2, 4, 3, 5]);
    for (const id of [2, 3, 5]) end(id);
    await dispatcher.drain(0);
  });

  test("gives outcomes to the next round, and again when that round fails", async () => {
    const given: (readonly number[])[] = [];
    const items = of("a");
    const { clock, dispatcher, logged, end, started } = rigOf(items, {
      async round(_, outcomes) {
        given.push(outcomes);
        if (outcomes.length > 0 && given.filter((one) => one.length > 0).length === 1)
          throw new Error("no database");
        return { taken: items.splice(0), more: false };
      },
    });
    await expect.poll(() => started).toEqual([1]);
    end(1, 7);
    await expect.poll(() => logged).toEqual(["items were not taken"]);
    await clock.advance(1_000);
    await expect.poll(() => given.filter((one) => one.length > 0)).toEqual([[7], [7]]);
    await dispatcher.drain(0);
  });

  test("drains: claims nothing more, waits for attempts, and records their outcomes", async () => {
    const { dispatcher, recorded, started, end } = rigOf(of("a", "b", "c", "d"));
    await expect.poll(() => started).toEqual([1, 2, 3]);
    const drained = dispatcher.drain(60_000);
    for (const id of [1, 2, 3]) end(id, id);
    await drained;
    expect(recorded.toSorted()).toEqual([1, 2, 3]);
    expect(started).toEqual([1, 2, 3]);
  });

  test("aborts attempts that last longer than its drain, and records that", async () => {
    const { clock, dispatcher, recorded, started } = rigOf(of("a"));
    await expect.poll(() => started).toEqual([1]);
    const drained = dispatcher.drain(5_000);
    await clock.advance(5_000);
    await drained;
    expect(recorded).toEqual([-1]);
  });

  test("logs an attempt that rejects, and frees its place", async () => {
    const { dispatcher, logged } = rigOf(of("a"), { attempt: () => Promise.reject(new Error("no network")) });
    await expect.poll(() => logged).toEqual(["items failed"]);
    await dispatcher.drain(0);
    expect(dispatcher.hasCapacity()).toBe(true);
  });
});
