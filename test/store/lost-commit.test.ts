import { expect, test, vi } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { createChangeRunner } from "../../src/store/change.ts";
import { createFeed } from "../../src/store/news.ts";
import { jobRows } from "../../src/store/rows/processes.ts";
import { commitsRig } from "./commits-rig.ts";

test("a change of a lost commit is run again completely, and its effects happen once", async () => {
  await using rig = await commitsRig();
  await rig.adapter.executeScript(
    "CREATE TABLE job (kind TEXT, key TEXT, run_at INTEGER, PRIMARY KEY (kind, key))",
  );
  const fail = (thrown: unknown) => expect.fail(String(thrown));
  const notified = createFeed(fail);
  const kinds: string[] = [];
  notified.feed.onJob((kind) => void kinds.push(kind));
  const noClient = () => Promise.reject(new Error("nothing here uses Prisma's client"));
  const writer = {
    client: noClient,
    dialect: "sqlite",
    jobs: jobRows,
    transact: rig.change,
    readSegment: async () => [],
  } as const;
  const change = createChangeRunner(writer, {
    clock: systemClock,
    random: systemRandom,
    feed: notified,
    afterwards: fail,
    changeMs: 15_000,
  });
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
  expect(
    all.map((settled) => (settled.status === "fulfilled" ? settled.value : String(settled.reason))),
  ).toEqual(["a", "b", "Error: full", "d"]);
  expect(runs.filter((key) => key === "a")).toHaveLength(2);
  expect(follow.mock.calls.flat()).toEqual(["a", "b", "d"]);
  expect(kinds).toEqual(["run", "run", "run"]);
});
