import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { batchReads } from "../../src/async/batch.ts";

/** A source that counts its reads. */
function countingSource() {
  let reads = 0;
  return { read: async () => ++reads };
}

test("concurrent calls share one read, also those a few steps later", async () => {
  const readShared = batchReads<number>();
  const { read } = countingSource();
  const late = async () => {
    for (let steps = 0; steps < 10; steps += 1) await null;
    return readShared("a", read);
  };
  expect(await Promise.all([readShared("a", read), readShared("a", read), late()])).toEqual([1, 1, 1]);
});

test("calls after the start of a read begin another one", async () => {
  const readShared = batchReads<number>();
  const { promise, resolve } = Promise.withResolvers<number>();
  const first = readShared("a", () => promise);
  await turn();
  await turn();
  const second = readShared("a", async () => 2);
  expect(await second).toBe(2);
  resolve(1);
  expect(await first).toBe(1);
});

test("each key has its own read", async () => {
  const readShared = batchReads<number>();
  const { read } = countingSource();
  expect(new Set(await Promise.all([readShared("a", read), readShared("b", read)]))).toEqual(new Set([1, 2]));
});

test("an error rejects all calls that share the read, and no later one", async () => {
  const readShared = batchReads<number>();
  const fail = async () => {
    throw new Error("no");
  };
  const results = await Promise.allSettled([readShared("a", fail), readShared("a", async () => 1)]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await readShared("a", async () => 2)).toBe(2);
});
