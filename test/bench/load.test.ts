import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { alternate, type Contender } from "../../bench/load.ts";

/** Contenders that record when they were called. */
function noting(names: readonly string[]): {
  readonly contenders: readonly Contender[];
  readonly called: string[];
} {
  const called: string[] = [];
  const contenders = names.map((name) => ({
    name,
    pid: process.pid,
    async call() {
      called.push(name);
      // One call lasts longer than its round.
      for (const end = performance.now() + 2; performance.now() < end; );
    },
  }));
  return { contenders, called };
}

test("contenders alternate, and every second round reverses the order, after a warm-up of each", async () => {
  const { contenders, called } = noting(["ours", "floor", "peer"]);
  const samples = await alternate(contenders, { rounds: 2, ms: 1, warmUpMs: 1, concurrency: 1 });
  expect(called.join(" ")).toBe("ours floor peer ours floor peer peer floor ours");
  expect(samples.map((rounds) => rounds.length)).toEqual([2, 2, 2]);
});

test("a call that fails ends the measurement and is not left out of it", async () => {
  const broken: Contender = {
    name: "broken",
    pid: process.pid,
    call: () => Promise.reject(new Error("500")),
  };
  await expect(alternate([broken], { rounds: 1, ms: 1, warmUpMs: 1, concurrency: 2 })).rejects.toThrow("500");
});

test("input that a round uses is prepared before it, outside its time", async () => {
  const preparedMs = 400;
  const called: string[] = [];
  const contender: Contender = {
    name: "ours",
    pid: process.pid,
    async prepare() {
      called.push("prepare");
      await delay(preparedMs);
    },
    async call() {
      called.push("call");
      for (const end = performance.now() + 2; performance.now() < end; );
    },
  };
  const [rounds = []] = await alternate([contender], { rounds: 2, ms: 1, warmUpMs: 1, concurrency: 1 });
  expect(called.join(" ")).toBe("prepare call prepare call prepare call");
  for (const { perSecond } of rounds) expect(1000 / perSecond).toBeLessThan(preparedMs);
});
