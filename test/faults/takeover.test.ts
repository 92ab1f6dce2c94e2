import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { databaseUrl, postgresTemplate, type TestDatabase } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { checkAnswered, type SeenTask } from "../support/invariants.ts";
import { eventually, type Installation, installation, type Server, type User, userOf } from "./server.ts";

const many = 20;
const freeze = fileURLToPath(new URL("freeze.ts", import.meta.url));

/** Two servers on one database, and somebody who may call both. */
interface Pair extends AsyncDisposable {
  readonly db: TestDatabase;
  readonly first: Server;
  readonly second: Server;
  /** Calls the first one, and the second one. */
  readonly viaFirst: User;
  readonly viaSecond: User;
}

async function openPair(): Promise<Pair> {
  const db = await databaseUrl("postgresql");
  const env = { DATABASE_URL: db.url, ENCRYPTION_KEY: randomBytes(32).toString("base64") };
  const places: Installation[] = [installation(env), installation(env)];
  const [one, two] = places as [Installation, Installation];
  const first = await one.start({ preload: freeze });
  const key = await one.key();
  const second = await two.start();
  return {
    ...{ db, first, second, viaFirst: userOf(first, key), viaSecond: userOf(second, key) },
    async [Symbol.asyncDispose]() {
      for (const place of places) place[Symbol.dispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

/** The running tasks of these that were claimed once only. */
async function untaken({ db }: Pair, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await directly(db, "SELECT id FROM task WHERE status = 'running' AND claims < 2");
  return rows.map(({ id }) => String(id)).filter((id) => ids.includes(id));
}

/** Creates tasks by way of the first server, and answers those that it runs itself and is in the middle of; the other may have taken some. */
async function beginAtFirst({ db, viaFirst }: Pair, text: string): Promise<readonly string[]> {
  const ids = await Promise.all(Array.from({ length: many }, () => viaFirst.create(text)));
  for (const id of ids) await eventually(`task ${id} says One`, 10_000, async () => saidIn(await viaFirst.see(id)).includes("One"));
  const own = await directly(db, "SELECT id FROM task WHERE node_id = (SELECT id FROM node ORDER BY started_at LIMIT 1)");
  expect(own.length, "the first server runs some").toBeGreaterThan(many / 4);
  return own.map(({ id }) => String(id));
}

const saidIn = ({ events }: SeenTask): readonly string[] => events.flatMap(({ type, text = "" }) => (type === "assistant_message" ? [text] : []));

/** Every task has ended, and its events are those of a task that nothing happened to. */
async function expectWhole(pair: Pair, ids: readonly string[], text: string): Promise<void> {
  for (const id of ids) await eventually(`task ${id} ends`, 30_000, async () => (await pair.viaSecond.status(id)) !== "running");
  const untouched = await pair.viaSecond.create(text);
  await eventually("an untouched task ends", 30_000, async () => (await pair.viaSecond.status(untouched)) !== "running");
  const wanted = (await pair.viaSecond.see(untouched)).events.map(({ type, text: words }) => [type, words]);
  for (const id of ids) {
    const task = await pair.viaSecond.see(id);
    checkAnswered(task);
    expect(task.events.map(({ type, text: words }) => [type, words])).toEqual(wanted);
  }
}

describe.skipIf(postgresTemplate === undefined).concurrent("of two processes on one database", { timeout: 120_000 }, () => {
  test("the other takes over when one is killed, within 20 s, and everything comes to its end", async () => {
    const text = "[[say One]] [[sleep 6]] [[say Two]]";
    await using pair = await openPair();
    const ids = await beginAtFirst(pair, text);
    await pair.first.end("SIGKILL");
    const own = await pair.viaSecond.create("[[say Mine]]");
    await eventually("what the other does itself goes on", 5_000, async () => (await pair.viaSecond.status(own)) === "stopped");
    const taken = await eventually("all are taken over", 22_000, async () => (await untaken(pair, ids)).length === 0);
    expect(taken, "not before the other is dead for sure").toBeGreaterThan(5_000);
    expect(taken).toBeLessThan(20_000);
    await expectWhole(pair, ids, text);
  });

  test("the other takes over when one stands still for 20 s, and nothing that it then still writes is kept", async () => {
    // Its agents have slept enough when it wakes, and would go on at once.
    const text = "[[say One]] [[sleep 10]] [[say Two]] [[say Three]]";
    await using pair = await openPair();
    const ids = await beginAtFirst(pair, text);
    pair.first.child.kill("SIGUSR2");
    await eventually("all are taken over", 20_000, async () => (await untaken(pair, ids)).length === 0);
    expect(pair.first.said()).not.toContain("thawed");
    const message = { content: "[[say Four]]" };
    for (const id of ids) expect((await pair.viaSecond.call("task.sendMessage", { task_id: id, message })).status).toBe(200);
    await eventually("it thaws", 25_000, async () => pair.first.said().includes("thawed"));
    for (const id of ids) await eventually(`task ${id} ends`, 30_000, async () => (await pair.viaFirst.status(id)) !== "running");
    for (const id of ids) {
      const task = await pair.viaFirst.see(id);
      checkAnswered(task);
      const said = saidIn(task);
      for (const words of ["One", "Two", "Three", "Four"]) expect(said.filter((other) => other === words), `${id}: ${words}`).toHaveLength(1);
    }
    // It is whole again: it runs what comes next.
    const next = await pair.viaFirst.create("Hello");
    await eventually("it goes on", 5_000, async () => (await pair.viaFirst.status(next)) === "stopped");
    for (const server of [pair.first, pair.second]) expect((await server.end("SIGTERM")).code).toBe(0);
  });

  test("the other takes over what one was writing when it stood still, and each event is there once", async () => {
    const words = Array.from({ length: 300 }, (_, i) => `word ${i}`);
    await using pair = await openPair();
    const text = words.map((word) => `[[say ${word}]]`).join(" ");
    const ids = await Promise.all(Array.from({ length: many / 2 }, () => pair.viaFirst.create(text)));
    await eventually("they write", 10_000, async () => saidIn(await pair.viaFirst.see(ids.at(-1) ?? "")).length > 10);
    pair.first.child.kill("SIGUSR2");
    await eventually("it thaws", 25_000, async () => pair.first.said().includes("thawed"));
    for (const id of ids) await eventually(`task ${id} ends`, 30_000, async () => (await pair.viaSecond.status(id)) !== "running");
    for (const id of ids) {
      const task = await pair.viaSecond.see(id);
      checkAnswered(task);
      expect(saidIn(task).slice(0, words.length)).toEqual(words);
    }
  });

  test("one that is asked to stop gives its runs back at once, and the other goes on", async () => {
    const text = "[[say One]] [[sleep 6]] [[say Two]]";
    await using pair = await openPair();
    const ids = await beginAtFirst(pair, text);
    const ended = pair.first.end("SIGTERM");
    const taken = await eventually("all are taken over", 10_000, async () => (await untaken(pair, ids)).length === 0);
    expect(taken).toBeLessThan(4_000);
    expect(await ended).toMatchObject({ code: 0 });
    await expectWhole(pair, ids, text);
  });
});
