import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { processesOf } from "../../cli/server/frame/processes.ts";
import { version } from "../../src/config/version.ts";
import type { NodeLoad } from "../../src/core/installation/status.ts";
import type { ProcessKeys } from "../../src/core/processes/key-rotation.ts";
import { openTestStore, postgresTemplate } from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { runJobs } from "../support/timed-jobs.ts";

const shownBy = async ({ store }: Service, now: number) =>
  processesOf(await store.processKeys.list(now - 180_000), await store.installation.nodes(100));
const here = { version, host: hostname(), pid: process.pid, running: 0 };

describe.skipIf(postgresTemplate === undefined)("processes of two roles on PostgreSQL", () => {
  test("are both shown until they end, and only the worker is a place for runs", async () => {
    const clock = stillClock();
    await using service = await openService({ database: "postgresql", roles: ["api", "worker"], clock });
    const startedAt = clock.now();
    const shown = await shownBy(service, clock.now());
    expect(shown.toSorted((a, b) => ((a.role ?? "") < (b.role ?? "") ? -1 : 1))).toMatchObject([
      { ...here, role: "api", startedAt, seenAt: startedAt },
      { ...here, role: "worker", startedAt },
    ]);
    for (const { memoryBytes } of shown) expect(memoryBytes).toBeGreaterThan(10_000_000);
    const nodes = await service.store.nodes.list();
    expect(nodes.map(({ id }) => id)).toEqual(
      shown.filter(({ role }) => role === "worker").map(({ id }) => id),
    );
    await service.nodes[1]?.drain();
    expect(await shownBy(service, clock.now())).toMatchObject([{ role: "api" }]);
  });
});

test("the process of SQLite is shown once, with the id of its runs, and its renewal is the only write", async () => {
  const clock = stillClock();
  await using service = await openService({ clock });
  const [node] = await service.store.nodes.list();
  expect(await shownBy(service, clock.now())).toMatchObject([{ ...here, role: "all", id: node?.id }]);
  const [before] = await service.store.processKeys.list(0);
  await clock.advance(60_000);
  await expect
    .poll(async () => (await service.store.processKeys.list(before?.renewedAt ?? 0)).length)
    .toBe(1);
  const [after] = await service.store.processKeys.list(0);
  expect(after).toEqual({ ...before, renewedAt: after?.renewedAt, memoryBytes: after?.memoryBytes });
  const writes = service.statements.filter((text) => /INSERT INTO "?process_keys/.test(text));
  expect(writes).toHaveLength(2);
});

test("the row of a process that was killed is deleted after a day", async () => {
  await using db = await openTestStore("sqlite");
  const { store } = db;
  const clock = stillClock();
  const put = (id: string) =>
    store.change((tx) => tx.processKeys.put({ id, keys: [], renewedAt: clock.now() }));
  await put("killed");
  clock.step(1);
  await put("alive");
  clock.step(24 * 3_600_000);
  await runJobs(store, clock);
  expect((await store.processKeys.list(0)).map(({ id }) => id)).toEqual(["alive"]);
});

describe("rows of older releases", () => {
  const unknown = { role: null, version: null, host: null, pid: null, startedAt: null, memoryBytes: null };
  const old = (id: string): ProcessKeys => ({ ...unknown, id, keys: [], renewedAt: 5 });
  const node = (id: string, processId: string | null): NodeLoad => ({
    ...{ id, processId, beat: 1, startedAt: 1, address: null, beatAt: 9, running: 2 },
  });
  const known: ProcessKeys = {
    ...old("new"),
    role: "all",
    version: "0.2.0",
    host: "h",
    pid: 7,
    startedAt: 3,
    memoryBytes: 4,
  };

  test("count each process once, whether it runs tasks or not", () => {
    const shown = processesOf([old("a"), old("b"), known], [node("old-node", null), node("node", "new")]);
    expect(shown.map(({ id, role, seenAt, running }) => [id, role, seenAt, running])).toEqual([
      ["b", null, 5, 0],
      ["old-node", null, 9, 2],
      ["node", "all", 9, 2],
    ]);
  });

  test("and a node whose row of keys has lapsed stays shown", () => {
    expect(processesOf([], [node("silent", "gone")])).toEqual([
      { ...unknown, id: "silent", startedAt: 1, seenAt: 9, running: 2 },
    ]);
  });
});
