import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { sharedReads } from "../../src/core/shared-reads.ts";

/** A source that says how often it was read. */
function counted() {
  let reads = 0;
  return { read: async () => ++reads };
}

test("reads that are asked for at the same time are one, also by those who come a few steps later", async () => {
  const shared = sharedReads<number>();
  const { read } = counted();
  const late = async () => {
    for (let steps = 0; steps < 10; steps += 1) await null;
    return shared("a", read);
  };
  expect(await Promise.all([shared("a", read), shared("a", read), late()])).toEqual([1, 1, 1]);
});

test("a read that has begun is shared with nobody more: what is asked for later is read later", async () => {
  const shared = sharedReads<number>();
  const { promise, resolve } = Promise.withResolvers<number>();
  const first = shared("a", () => promise);
  await turn();
  await turn();
  const second = shared("a", async () => 2);
  expect(await second).toBe(2);
  resolve(1);
  expect(await first).toBe(1);
});

test("each key has its own", async () => {
  const shared = sharedReads<number>();
  const { read } = counted();
  expect(new Set(await Promise.all([shared("a", read), shared("b", read)]))).toEqual(new Set([1, 2]));
});

test("a failure is everybody's who asked, and nobody's after that", async () => {
  const shared = sharedReads<number>();
  const fail = async () => {
    throw new Error("no");
  };
  const asked = await Promise.allSettled([shared("a", fail), shared("a", async () => 1)]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await shared("a", async () => 2)).toBe(2);
});
