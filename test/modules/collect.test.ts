import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectOnceIdle } from "../../src/modules/collect.ts";
import { stillClock } from "../support/still-clock.ts";

/** Waits on a still clock, with these shares of busy time, and counts collections. */
function waiting(shares: readonly number[]) {
  const clock = stillClock();
  const stopping = new AbortController();
  const left = [...shares];
  let collections = 0;
  const done = collectOnceIdle(clock, stopping.signal, {
    busyShare: () => left.shift() ?? 0,
    collect: () => {
      collections += 1;
    },
  });
  return { clock, stopping, done, collections: () => collections };
}

test("the garbage of the start is collected once, after the first ten seconds in which the process was idle", async () => {
  const { clock, done, collections } = waiting([0.9, 0.2, 0.05]);
  await clock.advance(20_000);
  expect(collections()).toBe(0);
  await clock.advance(10_000);
  await done;
  await clock.advance(60_000);
  expect(collections()).toBe(1);
});

test("a process that stops before it was idle collects nothing", async () => {
  const { clock, stopping, done, collections } = waiting([0.9]);
  await clock.advance(10_000);
  stopping.abort();
  await done;
  expect(collections()).toBe(0);
});

test("the collection frees objects that nothing refers to", async () => {
  const clock = stillClock();
  const garbage = new WeakRef({});
  // A new reference holds its object until the present turn ends.
  await turn();
  const done = collectOnceIdle(clock, new AbortController().signal, { busyShare: () => 0 });
  await clock.advance(10_000);
  await done;
  expect(garbage.deref()).toBeUndefined();
});
