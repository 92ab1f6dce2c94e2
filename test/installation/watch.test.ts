import { expect, test } from "vitest";
import type { ReplicaState } from "../../src/core/installation/checks.ts";
import { installationWatch, type WatchParts } from "../../src/core/installation/watch.ts";
import { repeats } from "../../src/core/repeats.ts";
import { slowStatements } from "../../src/store/round-trips.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, openTestStore } from "../support/database.ts";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { untilTrue } from "../tasks/watch-rig.ts";

const start = 1_790_000_000_000;
const lookMs = 10_000;
type State = {
  oldestAt: number | null;
  unserved: boolean;
  free: number;
  skewMs: number;
  replica: ReplicaState;
};

/** Looks every 10 s at an installation whose state a test sets. */
function watched() {
  const clock = movableClock(start);
  const state: State = {
    oldestAt: null,
    unserved: false,
    free: 50,
    skewMs: 0,
    replica: { problem: null, secondsBehind: 0 },
  };
  const lines: string[] = [];
  const parts: Pick<WatchParts, "readDisk" | "databaseTime" | "remoteProfiles" | "replica"> & {
    readonly store: unknown;
  } = {
    store: {
      workers: {
        unserved: async () => (state.unserved ? [{ profile: "gpu", waiting: 2, oldestAt: start }] : []),
      },
      installation: {
        isQueueOlder: async (at: number) => state.oldestAt !== null && state.oldestAt <= at,
        profiles: async () => [
          { profile: "manus-1.6", queued: 1, running: 0, failed: 0, oldestAt: state.oldestAt },
        ],
      },
    },
    remoteProfiles: ["gpu"],
    readDisk: async () => ({ free: state.free, size: 100 }),
    databaseTime: async () => clock.now() + state.skewMs,
    replica: async () => state.replica,
  };
  const warnings = repeats((level, text) => void lines.push(`${level} ${text}`), clock.monotonic);
  const look = installationWatch({ ...(parts as WatchParts), clock, warnings });
  return {
    state,
    lines,
    async looks(count: number) {
      for (let n = 0; n < count; n += 1) {
        clock.pass(lookMs);
        await look();
      }
    },
  };
}

test.each<[string, Partial<State>, string]>([
  [
    "a queue that is older than a minute",
    { oldestAt: start - 60_000 },
    "tasks of profile manus-1.6 wait for more than a minute",
  ],
  [
    "a profile without a worker",
    { unserved: true },
    "no worker has called for profile gpu in the last minute: tasks wait for one",
  ],
  [
    "a disk that is nearly full",
    { free: 4 },
    "the disk of the data folder is nearly full: less than 5% is free",
  ],
  [
    "a clock that is ahead",
    { skewMs: -7_000 },
    "the clocks of this process and of the database differ by more than 5 s",
  ],
  [
    "a clock that is behind",
    { skewMs: 7_000 },
    "the clocks of this process and of the database differ by more than 5 s",
  ],
  [
    "a replica that is behind",
    { replica: { problem: null, secondsBehind: 11 } },
    "the replica of DATABASE_READ_URL is down or behind: the primary runs its reads",
  ],
  [
    "a replica that does not answer",
    { replica: { problem: "cannot be compared with the primary: ECONNREFUSED", secondsBehind: null } },
    "the replica of DATABASE_READ_URL is down or behind: the primary runs its reads",
  ],
])("%s is logged once, then counted once a minute, and logged when it is over", async (_, broken, text) => {
  const { state, lines, looks } = watched();
  const healthy = { ...state };
  await looks(3);
  expect(lines).toEqual([]);
  Object.assign(state, broken);
  await looks(8);
  expect(lines).toEqual([`warn ${text}`, `warn ${text} (repeated 6 times in the last 60 s)`]);
  Object.assign(state, healthy);
  await looks(2);
  expect(lines.slice(2)).toEqual([
    `warn ${text} (repeated once in the last 20 s)`,
    `info over: ${text} (8 times in 80 s)`,
  ]);
});

test("a server looks every 10 s, by its disk, its queue and the database's time", async () => {
  const clock = stillClock();
  const databaseTime = async () => clock.now() - 60_000;
  await using service = await openService({ clock, idle: true, disk: { free: 1, size: 100 }, databaseTime });
  const ann = await service.person();
  const texts = () => service.logged.filter(({ level }) => level === "warn").map(({ text }) => text);
  await expect
    .poll(() => texts().toSorted())
    .toEqual([
      "the clocks of this process and of the database differ by more than 5 s",
      "the disk of the data folder is nearly full: less than 5% is free",
    ]);
  await ann.v2("task.create", { message: { content: "Wait." } });
  await untilTrue(async () => {
    await clock.advance(1_000);
    return texts().includes("tasks of profile manus-1.6 wait for more than a minute");
  });
});

describeOnOne("the time of the database", (database) => {
  test("is the machine's on PostgreSQL, and none on SQLite", async () => {
    await using opened = await openTestStore(database);
    const time = await opened.store.installation.databaseTime();
    if (database === "sqlite") expect(time).toBe(null);
    else expect(Math.abs((time ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test("of a statement that is slow is logged with its text and without its values", async () => {
    const lines: unknown[] = [];
    await using opened = await openTestStore(database, {
      slowStatementMs: 0.000_001,
      log: (...line) => void lines.push(line),
    });
    await opened.store.tasks.byId("zeppelin");
    const slow = lines.filter((line) => JSON.stringify(line).includes("SELECT … FROM task"));
    expect(slow[0]).toMatchObject([
      "warn",
      expect.stringMatching(/^a statement took more than [\d.]+ ms$/),
      { sql: expect.stringMatching(/^SELECT … FROM task/) },
    ]);
    expect(JSON.stringify(lines)).not.toContain("zeppelin");
  });
});

test("a slow statement is reported with 1, 2, 5, 10, … times the limit, so that equal lines can be counted", () => {
  const reports: [string, number][] = [];
  const now = performance.now;
  let time = 0;
  performance.now = () => time;
  try {
    const listen = slowStatements(100, (sql, ms) => void reports.push([sql, ms]));
    for (const ms of [100, 101, 199, 250, 700, 1_500, 60_000]) {
      const ended = listen("SELECT\n  1");
      time += ms;
      ended?.();
    }
  } finally {
    performance.now = now;
  }
  expect(reports).toEqual([100, 100, 200, 500, 1_000, 50_000].map((ms) => ["SELECT 1", ms]));
});
