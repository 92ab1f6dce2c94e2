import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { databaseUrl, postgresTemplate, type TestDatabase } from "../support/database.ts";
import { depth, sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { type CheckedTask, checkAnswered } from "../support/invariants.ts";
import { eventually, installation, type Server, type User, userOf } from "./server.ts";

const many = sample(20, 5);
const inside = (name: string): string => fileURLToPath(new URL(`inside/${name}.ts`, import.meta.url));

/** A database with one server, which can be suspended, and capacity for a second one. */
interface Place extends AsyncDisposable {
  readonly db: TestDatabase;
  readonly first: Server;
  readonly viaFirst: User;
  /** Seconds in which this machine can start a server several times. */
  readonly aWhile: number;
  /** Resumes the first server, which SIGUSR2 suspended; resolves once it runs. */
  thaw(): Promise<void>;
  /** Starts the other server; with `shortSleeps` its agents sleep for a tenth of `aWhile`. */
  second(options?: {
    readonly shortSleeps?: boolean;
  }): Promise<{ readonly second: Server; readonly viaSecond: User }>;
}

async function openPlace(): Promise<Place> {
  const db = await databaseUrl("postgresql");
  const env = { DATABASE_URL: db.url, ENCRYPTION_KEY: randomBytes(32).toString("base64") };
  const one = installation(env);
  const begun = performance.now();
  const first = await one.start({ preloads: [inside("freeze")] });
  const aWhile = 10 + Math.ceil((3 * (performance.now() - begun)) / 1000);
  const two = installation({ ...env, LONG_SLEEP: `${aWhile}` });
  const key = await one.key();
  return {
    ...{ db, first, viaFirst: userOf(first, key), aWhile },
    async thaw() {
      writeFileSync(join(one.dataDir, "thaw"), "");
      await eventually("it thaws", async () => first.stderrText().includes("thawed"));
    },
    async second({ shortSleeps = false } = {}) {
      const second = await two.start({ preloads: shortSleeps ? [inside("short-sleeps")] : [] });
      return { second, viaSecond: userOf(second, key) };
    },
    async [Symbol.asyncDispose]() {
      for (const place of [one, two]) place[Symbol.dispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

/** Text that takes long enough for nothing to end before the fault. */
const textFor = ({ aWhile }: Place): string => `[[say One]] [[sleep ${aWhile}]] [[say Two]] [[say Three]]`;

/** Starts tasks on the first server, which is in the middle of them when the second one starts. */
async function beginAtFirst(place: Place, options?: Parameters<Place["second"]>[0]) {
  const { viaFirst } = place;
  const ids = await Promise.all(Array.from({ length: many }, () => viaFirst.create(textFor(place))));
  for (const id of ids)
    await eventually(`task ${id} says One`, async () => saidIn(await viaFirst.readTask(id)).includes("One"));
  return { ids, ...(await place.second(options)) };
}

/** The tasks that run and were claimed once only. */
async function untaken({ db }: Place): Promise<number> {
  const [row] = await runDirectly(
    db,
    "SELECT COUNT(*) AS n FROM task WHERE status = 'running' AND claims < 2",
  );
  return Number(row?.["n"]);
}

const saidIn = ({ events }: CheckedTask): readonly string[] =>
  events.flatMap(({ type, text: words = "" }) => (type === "assistant_message" ? [words] : []));

/** The tasks once all have ended. */
async function ended(user: User, ids: readonly string[]): Promise<readonly CheckedTask[]> {
  for (const id of ids)
    await eventually(`task ${id} ends`, async () => (await user.status(id)) !== "running");
  const tasks = await Promise.all(ids.map(user.readTask));
  tasks.forEach(checkAnswered);
  return tasks;
}

const wordsOf = ({ events }: CheckedTask) => events.map((event) => [event.type, event.text]);

/** How often the process that started last has said that it lives: every 5 s at most. */
async function beatsOfSecond({ db }: Place): Promise<number> {
  const [row] = await runDirectly(db, "SELECT beat FROM node ORDER BY started_at DESC LIMIT 1");
  return Number(row?.["beat"]);
}

/** What a task looks like to which nothing happened. */
async function untouched(place: Place, user: User): Promise<CheckedTask> {
  const [task] = await ended(user, [await user.create(textFor(place))]);
  return task as CheckedTask;
}

/** They wait 15 s for a process to count as dead; `faults.test.ts` has a short form of them. */
const deepTest = test.skipIf(depth === "short");

// One at a time: each has two servers, which take some 25 connections each.
describe.skipIf(postgresTemplate === undefined)("of two processes on one database", () => {
  deepTest("the other takes over when one is killed, and everything comes to its end", async () => {
    await using place = await openPlace();
    const { ids, viaSecond } = await beginAtFirst(place);
    expect(await untaken(place)).toBe(many);
    await place.first.end("SIGKILL");
    const own = viaSecond.create("[[say Mine]]").then((id) => ended(viaSecond, [id]));
    const taken = await eventually("all are taken over", async () => (await untaken(place)) === 0);
    expect(taken, "not before the other is dead for sure").toBeGreaterThan(5_000);
    const [tasks, whole] = await Promise.all([ended(viaSecond, ids), untouched(place, viaSecond)]);
    for (const task of tasks) expect(wordsOf(task)).toEqual(wordsOf(whole));
    await own;
  });

  deepTest(
    "the other takes over when one stands still, and nothing that it then still writes is kept",
    async () => {
      await using place = await openPlace();
      const { ids, second, viaSecond } = await beginAtFirst(place);
      place.first.child.kill("SIGUSR2");
      await eventually("all are taken over", async () => (await untaken(place)) === 0);
      const message = { content: "[[say Four]]" };
      for (const id of ids)
        expect((await viaSecond.call("task.sendMessage", { task_id: id, message })).status).toBe(200);
      await ended(viaSecond, ids);
      // Its agents have slept long enough when it wakes, and would continue at once.
      await place.thaw();
      for (const task of await ended(place.viaFirst, ids)) {
        const said = saidIn(task);
        for (const words of ["One", "Two", "Three", "Four"]) {
          expect(
            said.filter((other) => other === words),
            `${task.id}: ${words}`,
          ).toHaveLength(1);
        }
      }
      const next = await place.viaFirst.create("Hello");
      await eventually(
        "it runs what comes next",
        async () => (await place.viaFirst.status(next)) === "stopped",
      );
      for (const server of [place.first, second]) expect((await server.end("SIGTERM")).code).toBe(0);
    },
  );

  deepTest(
    "the other takes over what one was writing when it stood still, and each event is there once",
    async () => {
      await using place = await openPlace();
      const { viaSecond } = await place.second();
      const words = Array.from({ length: 200 }, (_, i) => `word ${i}`);
      const message = words.map((word) => `[[say ${word}]]`).join(" ");
      const ids = await Promise.all(Array.from({ length: 6 }, () => place.viaFirst.create(message)));
      await eventually(
        "it writes",
        async () => saidIn(await place.viaFirst.readTask(ids.at(-1) ?? "")).length > 5,
      );
      place.first.child.kill("SIGUSR2");
      await ended(viaSecond, ids);
      await place.thaw();
      for (const task of await ended(viaSecond, ids))
        expect(saidIn(task).slice(0, words.length)).toEqual(words);
    },
  );

  test("a server that stops releases its runs at once, and the other continues them", async () => {
    await using place = await openPlace();
    const { ids, viaSecond } = await beginAtFirst(place, { shortSleeps: true });
    const beats = await beatsOfSecond(place);
    const end = place.first.end("SIGTERM");
    await eventually("all are taken over", async () => (await untaken(place)) === 0);
    expect(
      (await beatsOfSecond(place)) - beats,
      "three are the 15 s after which it would be dead",
    ).toBeLessThan(3);
    expect(await end).toMatchObject({ code: 0 });
    const [tasks, whole] = await Promise.all([ended(viaSecond, ids), untouched(place, viaSecond)]);
    for (const task of tasks) expect(wordsOf(task)).toEqual(wordsOf(whole));
  });
});
