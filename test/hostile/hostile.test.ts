import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { share } from "../support/depth.ts";
import { type Memory, memoryOf, resetPeak } from "../support/process-memory.ts";
import type { Attack } from "./attack.ts";
import { startPlatform } from "./platform.ts";
import { watchLiveness } from "./probe/liveness.ts";
import { type AttackedPlatform, excessMax, type Result, run, tries } from "./run.ts";
import { acceptedMax, accounts, sendAccepted } from "./table/accepted.ts";
import { refused, slowAttacks, within } from "./table/attacks.ts";
import { callers, warmUp } from "./warm-up.ts";

const MiB = 1024 ** 2;
/** How much refused requests may add to resident memory, all of them together. */
const refusedMemoryMax = 128 * MiB;
const acceptedMemoryMax = 1024 * MiB;

/** In short runs a sixth of them. */
const some = { refused: share(refused, 0, 6), within: share(within, 0, 6) };

/** A platform before any attack. */
interface Before extends AttackedPlatform {
  readonly memory: Memory;
}

/** @param attacks the number of attacks, each of which may be sent several times */
async function open(attacks: number): Promise<Omit<AttackedPlatform, "idle">> {
  const platform = await startPlatform(tries * attacks + callers + accounts);
  const liveness = await watchLiveness(platform.port, platform.pid);
  await warmUp(platform);
  return { platform, liveness };
}

async function measure({ platform, liveness }: Omit<AttackedPlatform, "idle">): Promise<Before> {
  const idle = await liveness.idle();
  resetPeak(platform.pid);
  return { platform, liveness, idle, memory: memoryOf(platform.pid) };
}

async function close({ platform, liveness }: AttackedPlatform): Promise<void> {
  liveness[Symbol.dispose]();
  await platform[Symbol.asyncDispose]();
}

const added = ({ platform, memory }: Before): number => memoryOf(platform.pid).peak - memory.resident;

/**
 * Attacks that wait for time-outs have a separate platform, so that they wait while the other one is
 * attacked.
 */
let ground: Before;
let slowGround: Before;
let slow: Promise<readonly Result[]>;

beforeAll(async () => {
  const [one, other] = await Promise.all([
    open(some.refused.length + some.within.length),
    open(slowAttacks.length),
  ]);
  // Sequentially, while nothing else runs.
  ground = await measure(one);
  slowGround = await measure(other);
  slow = Promise.all(slowAttacks.map((attack) => run(slowGround, attack)));
  slow.catch(() => undefined);
});

afterAll(() => Promise.all([close(ground), close(slowGround)]));

/** Expects that the server is alive, gave a right answer, and answered `/livez` in time. */
function expectHeld(
  { platform }: AttackedPlatform,
  { answer, expected, excess, took, resident }: Result,
): void {
  const facts = `${took.toFixed(0)} ms, ${Math.round(resident / MiB)} MiB`;
  expect(platform.isAlive(), "the server is dead").toBe(true);
  expect(expected, facts).toContain(answer);
  expect(excess, `/livez was late (${facts})`).toBeLessThan(excessMax);
}

const named = (all: readonly Attack[]): readonly (readonly [string, Attack])[] =>
  all.map((attack) => [attack.name, attack]);

describe("a server at default limits gives a right answer, survives, and keeps answering /livez to another process", () => {
  describe("under what its bounds refuse", () => {
    test.each(named(some.refused))("%s", async (_name, attack) =>
      expectHeld(ground, await run(ground, attack)));

    test("which together raises its resident memory by less than 128 MiB", () => {
      expect(added(ground)).toBeLessThan(refusedMemoryMax);
    });
  });

  describe("under what is within its bounds", () => {
    test.each(named(some.within))("%s", async (_name, attack) =>
      expectHeld(ground, await run(ground, attack)));

    test("as many bodies as BODY_MEMORY takes, and more", async () => {
      const answers = await sendAccepted(ground.platform);
      expect(answers.filter((answer) => answer === "200").length).toBeGreaterThan(0);
      expect(answers.filter((answer) => !acceptedMax.includes(answer))).toEqual([]);
    });

    test("which keeps its resident memory under 1 GiB", () => {
      expect(memoryOf(ground.platform.pid).peak).toBeLessThan(acceptedMemoryMax);
    });
  });

  describe("under requests that never end, all at once", () => {
    test("until they are over", async () => {
      for (const result of await slow) expectHeld(slowGround, result);
    });

    test("which together raise its resident memory by less than 128 MiB", () => {
      expect(added(slowGround)).toBeLessThan(refusedMemoryMax);
    });
  });
});
