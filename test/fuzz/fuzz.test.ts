import { expect, test } from "vitest";
import { shown } from "./failing.ts";
import { fuzz } from "./run.ts";

const seed = 20_260_921;
const runs = 2_000;

// `npm run fuzz` sends 100,000 of other seeds.
test("whatever comes is answered in the shape of its wire, without a fault of ours, and leaves nothing behind", async () => {
  const { tally, faults } = await fuzz({ seed, runs });
  expect(tally.complaints.map((complaint) => shown(seed, complaint))).toEqual([]);
  expect(faults).toEqual([]);
  expect(tally.sent).toBe(runs);
});
