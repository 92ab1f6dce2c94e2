import { describe, expect, test } from "vitest";
import { install } from "../../bench/installed.ts";
import { type Server, startPlatform } from "../../bench/servers.ts";
import { arrivalsOf } from "../../bench/simulate/arrivals.ts";
import { runDay } from "../../bench/simulate/day.ts";
import { violationsIn } from "../../bench/simulate/invariants.ts";
import type { Person } from "../../bench/simulate/people.ts";
import { carried, type SimulatedDay, simulate } from "../../bench/simulate.ts";
import { databaseUrl, rowsIn, runOn } from "../support/database.ts";

const day = { people: 10_000_000, peak: 200, seconds: 50, seed: 3 };

describe("the calls of a day", () => {
  test("are the same for the same seed, follow the day, and come mostly from few people", () => {
    const calls = arrivalsOf(day);
    expect(arrivalsOf(day)).toEqual(calls);
    expect(arrivalsOf({ ...day, seed: 4 })).not.toEqual(calls);
    const between = (from: number, to: number) =>
      calls.filter(({ at }) => at >= from * 1000 && at < to * 1000).length;
    // A twentieth of the day around noon has nearly the peak, and at night a quarter of it.
    expect(between(23.75, 26.25) / 2.5).toBeGreaterThan(160);
    expect(between(0, 2.5) / 2.5).toBeLessThan(90);
    const busy = calls.filter(({ person }) => person < day.people / 1000).length;
    expect(busy / calls.length).toBeCloseTo(0.5, 1);
  });

  test("begin at their times although no earlier call is answered, and are counted as unanswered or failed", async () => {
    const begun: number[] = [];
    const refuse = Promise.withResolvers<never>();
    const post: Server["post"] = () => {
      begun.push(performance.now());
      return refuse.promise;
    };
    const server = { post } as Server;
    const arrivals = arrivalsOf({ ...day, seconds: 0.4 });
    const people = new Map(
      arrivals.map(({ person }): [number, Person] => [person, { accountId: "a", key: "k", tasks: [] }]),
    );
    const running = runDay([server], people, arrivals);
    await expect.poll(() => begun.length).toBe(arrivals.length);
    refuse.reject(new Error("refused"));
    expect(await running).toMatchObject({
      calls: arrivals.length,
      failed: arrivals.length,
      unanswered: 0,
      messages: 0,
    });
  });
});

test("a simulated day on a server breaks nothing, and what is broken by hand is counted", async () => {
  await using database = await databaseUrl("sqlite");
  const env = { DATABASE_URL: database.url, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64") };
  const installed = await install(env);
  await using server = await startPlatform(installed);
  const days: SimulatedDay[] = [];
  const simulation = { people: 10_000_000, rate: 20, days: 1, seconds: 3, seed: 5 };
  for await (const each of simulate(installed, [server], simulation)) days.push(each);
  const [only] = days;
  const none = { lostTasks: 0, unknownTasks: 0, messages: 0, gaps: 0, unended: 0 };
  expect(only).toMatchObject({ failed: 0, unanswered: 0, violations: none });
  expect(only?.tasks).toBeGreaterThan(5);
  if (only) expect(carried({ ...only, p99Ms: { ...only.p99Ms, create: 1_001 } })).toBe(false);
  const rows = async (sql: string) => (await rowsIn(database.url, sql)).map((row) => Object.values(row));
  const people: Person[] = (await rows("SELECT account_id, id FROM task WHERE agent_id IS NULL")).map(
    ([accountId, id]) => ({
      ...{ accountId: String(accountId), key: "" },
      tasks: [String(id)],
    }),
  );
  const [first, second] = people.map(({ tasks }) => tasks[0]);
  await runOn(database.url, `DELETE FROM task WHERE id = '${first}'`);
  await runOn(database.url, `DELETE FROM task_event WHERE task_id = '${second}' AND seq = 1`);
  expect(await violationsIn(rows, people.slice(0, -1), only?.messages ?? 0, 0)).toMatchObject({
    ...{ lostTasks: 1, unknownTasks: 1, messages: expect.any(Number), gaps: 1, unended: 0 },
  });
});
