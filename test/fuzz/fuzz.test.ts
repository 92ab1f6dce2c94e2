import { expect, test } from "vitest";
import { sample, seed } from "../support/depth.ts";
import { describeFailure } from "./failing.ts";
import { fuzz } from "./run.ts";

// In a full run `npm run fuzz` sends 100,000 more.
const runs = sample(5_000, 800);

test("any request is answered in the shape of its wire, without an internal error, and leaves nothing behind", async () => {
  const { tally, faults } = await fuzz({ seed, runs });
  expect(tally.complaints.map((complaint) => describeFailure(seed, complaint))).toEqual([]);
  expect(faults).toEqual([]);
  expect(tally.sent).toBe(runs);
});
