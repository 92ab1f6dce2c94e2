import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import type { Store, Tx } from "../../src/core/store.ts";
import { retain } from "../../src/core/use-cases/retain.ts";
import { archiveFiles, noBlobs } from "../support/archive-files.ts";
import { movableClock } from "../support/clock.ts";
import { keepsAll } from "../support/timed-jobs.ts";

/**
 * The sizes of the changes that delete usage of one space, when each change takes `ms`, and the time of day
 * is set back during it.
 */
async function sizesOf(ms: number, changes: number): Promise<readonly number[]> {
  const clock = movableClock();
  const sizes: number[] = [];
  const deleteUsage: Tx["retention"]["deleteUsage"] = async (_space, _before, max) => {
    sizes.push(max);
    return sizes.length === changes ? 0 : max;
  };
  const tx = { retention: { deleteUsage } };
  const store = {
    async change(work: (tx: Tx) => Promise<unknown>) {
      clock.pass(ms);
      clock.set(clock.now() - 60_000);
      return work(tx as unknown as Tx); // the pass uses nothing else of it
    },
    retention: {
      walkSpaces: async (after: string) => (after === "" ? [{ id: "space", isHeld: false }] : []),
    },
  } as unknown as Store;
  const archive = archiveFiles(store, noBlobs, clock.now());
  const config = { deletedTaskDays: 0, webhookLogDays: 0, retention: { ...keepsAll, usageDays: 1 } };
  await retain.run({ store, clock, ids: systemIds, archive, config }, new AbortController().signal);
  return sizes;
}

test("a change after a slow one handles half as much, also while the time of day is set back", async () => {
  expect(await sizesOf(300, 7)).toEqual([250, 125, 62, 31, 15, 10, 10]);
});

test("a change after a fast one handles twice as much, 1,000 rows at most", async () => {
  expect(await sizesOf(10, 4)).toEqual([250, 500, 1_000, 1_000]);
});
