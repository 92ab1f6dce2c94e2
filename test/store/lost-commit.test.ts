import { expect, test, vi } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { changer } from "../../src/store/change.ts";
import { createFeed } from "../../src/store/feed.ts";
import { jobRows } from "../../src/store/rows/job.ts";
import type { Client } from "../../src/store/session.ts";
import { commitsRig } from "./commits-rig.ts";

test("a change that a lost commit took along is made anew, whole, and what follows it happens once", async () => {
  await using rig = await commitsRig();
  await rig.adapter.executeScript("CREATE TABLE job (kind TEXT, key TEXT, run_at INTEGER, PRIMARY KEY (kind, key))");
  const fail = (thrown: unknown) => expect.fail(String(thrown));
  const told = createFeed(fail);
  const kinds: string[] = [];
  told.feed.onJob((kind) => void kinds.push(kind));
  // Nothing that is done here goes by Prisma's models.
  const writer = { client: {} as Client, dialect: "sqlite", jobs: jobRows, transact: rig.change } as const;
  const change = changer(writer, { clock: systemClock, random: systemRandom, feed: told, afterwards: fail, changeMs: 15_000 });
  const follow = vi.fn();
  const runs: string[] = [];
  const all = await Promise.allSettled(
    ["a", "b", "c", "d"].map((key) =>
      change(async (tx) => {
        runs.push(key);
        await tx.jobs.put({ kind: "run", key, runAt: 1 });
        tx.afterCommit(() => follow(key));
        if (key !== "c") return key;
        // As a full disk does.
        await rig.adapter.executeScript("ROLLBACK");
        throw new Error("full");
      }),
    ),
  );
  expect(all.map((settled) => (settled.status === "fulfilled" ? settled.value : String(settled.reason)))).toEqual([
    "a",
    "b",
    "Error: full",
    "d",
  ]);
  expect(runs.filter((key) => key === "a")).toHaveLength(2);
  expect(follow.mock.calls.flat()).toEqual(["a", "b", "d"]);
  expect(kinds).toEqual(["run", "run", "run"]);
});
