import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { coalesce } from "../../src/async/coalesce.ts";
import { mutex } from "../../src/async/limit.ts";

/** Work whose runs end when the test ends them. */
function heldWork() {
  const runs: PromiseWithResolvers<number>[] = [];
  return {
    runs,
    work: () => {
      runs.push(Promise.withResolvers<number>());
      return runs.at(-1)?.promise ?? Promise.reject();
    },
  };
}

test("calls before the start of a run share it", async () => {
  const { runs, work } = heldWork();
  const run = coalesce(work);
  const calls = [run(), run(), run()];
  await turn();
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  expect(await Promise.all(calls)).toEqual([1, 1, 1]);
});

test("calls during a run share the next one, which begins after its end", async () => {
  const { runs, work } = heldWork();
  const run = coalesce(work);
  const first = run();
  await turn();
  const later = [run(), run()];
  await turn();
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  expect(await first).toBe(1);
  await turn();
  expect(runs).toHaveLength(2);
  runs[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2]);
  await turn();
  expect(runs).toHaveLength(2);
});

test("work may request a run after itself", async () => {
  let runs = 0;
  const run = coalesce(async () => {
    runs += 1;
    if (runs < 3) void run();
  });
  await run();
  await turn();
  expect(runs).toBe(3);
});

test("an error rejects the calls that share its run, and the next run takes place", async () => {
  const { runs, work } = heldWork();
  const run = coalesce(work);
  const first = run();
  await turn();
  const second = run();
  runs[0]?.reject(new Error("no"));
  await expect(first).rejects.toThrow("no");
  await turn();
  runs[1]?.resolve(2);
  expect(await second).toBe(2);
});

test("pieces of work that share a mutex exclude each other", async () => {
  const exclusive = mutex();
  const [one, two] = [heldWork(), heldWork()];
  const calls = [coalesce(one.work, exclusive)(), coalesce(two.work, exclusive)()];
  await turn();
  expect([one.runs.length, two.runs.length]).toEqual([1, 0]);
  one.runs[0]?.resolve(1);
  await turn();
  expect(two.runs).toHaveLength(1);
  two.runs[0]?.resolve(2);
  expect(await Promise.all(calls)).toEqual([1, 2]);
});
