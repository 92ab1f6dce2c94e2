import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Memory, memoryOf, resetPeak } from "../support/process-memory.ts";
import type { Attack } from "./attack.ts";
import { type Platform, startPlatform } from "./platform.ts";
import { type Liveness, watchLiveness } from "./probe/liveness.ts";
import { excessMax, type Ground, type Result, run } from "./run.ts";
import { acceptedMax, accounts, sendAccepted } from "./table/accepted.ts";
import { refused, slowAttacks, within } from "./table/attacks.ts";
import { callers, warmUp } from "./warm-up.ts";

const MiB = 1024 ** 2;
/** How much refused requests may add to resident memory, all of them together. */
const refusedMemoryMax = 128 * MiB;
const acceptedMemoryMax = 1024 * MiB;

let platform: Platform;
let liveness: Liveness;
let ground: Ground;
let before: Memory;

beforeAll(async () => {
  platform = await startPlatform(3 * (refused.length + slowAttacks.length + within.length) + callers + accounts);
  liveness = await watchLiveness(platform.port, platform.pid);
  await warmUp(platform);
  ground = { platform, liveness, idle: await liveness.idle() };
  resetPeak(platform.pid);
  before = memoryOf(platform.pid);
});

afterAll(async () => {
  liveness[Symbol.dispose]();
  await platform[Symbol.asyncDispose]();
});

/** The server lives, has given a right answer, and has answered `/livez` meanwhile. */
function expectHeld({ answer, expected, excess, took, resident }: Result): void {
  const told = `${took.toFixed(0)} ms, ${Math.round(resident / MiB)} MiB`;
  expect(platform.isAlive(), "the server is dead").toBe(true);
  expect(expected, told).toContain(answer);
  expect(excess, `/livez was late (${told})`).toBeLessThan(excessMax);
}

const named = (all: readonly Attack[]): readonly (readonly [string, Attack])[] => all.map((attack) => [attack.name, attack]);

describe("a server at default limits gives a right answer, lives, and goes on answering /livez to another process", () => {
  describe("under what its bounds refuse", () => {
    test.each(named(refused))("%s", async (_name, attack) => expectHeld(await run(ground, attack)));

    test("requests that never end, all at once", async () => {
      const results = await Promise.all(slowAttacks.map((attack) => run(ground, attack)));
      for (const result of results) expectHeld(result);
    });

    test("which together raises its resident memory by less than 128 MiB", () => {
      expect(memoryOf(platform.pid).peak - before.resident).toBeLessThan(refusedMemoryMax);
    });
  });

  describe("under what is within its bounds", () => {
    test.each(named(within))("%s", async (_name, attack) => expectHeld(await run(ground, attack)));

    test("as many bodies as BODY_MEMORY takes, and more", async () => {
      const answers = await sendAccepted(platform);
      expect(answers.filter((answer) => answer === "200").length).toBeGreaterThan(0);
      expect(answers.filter((answer) => !acceptedMax.includes(answer))).toEqual([]);
    });

    test("which keeps its resident memory under 1 GiB", () => {
      expect(memoryOf(platform.pid).peak).toBeLessThan(acceptedMemoryMax);
    });
  });
});
