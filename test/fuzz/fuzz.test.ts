import { expect, test } from "vitest";
import { sample, seed } from "../support/depth.ts";
import { describeFailure } from "./failing.ts";
import { fuzz } from "./run.ts";

// In a full run `npm run fuzz` sends 100,000 more.
const runs = sample(5_000, 800);

test("any request is answered in the shape of its wire, without an internal error, and leaves nothing behind", async () => {
  const { tally, faults } = await fuzz({ seed, runs });
  const failures = [...tally.complaints.map((complaint) => describeFailure(seed, complaint)), ...faults];
  // As the message, because reports shorten arrays.
  if (failures.length > 0) expect.fail(failures.join("\n\n"));
  expect(tally.sent).toBe(runs);
});
