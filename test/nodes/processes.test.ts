import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { eventually, installation, type User, userOf } from "../faults/server.ts";
import { databaseUrl, postgresTemplate } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { checkAnswered } from "../support/invariants.ts";
import { sampledTest } from "../support/sampled.ts";

const test = sampledTest(2);

const perWorker = sample(10, 4);

const createMany = (user: User, count: number, content: string): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => user.create(content)));

test.skipIf(postgresTemplate === undefined)(
  "of three processes one answers calls and two run tasks, none more than its limit; one that leaves passes its tasks to the other",
  async () => {
    await using db = await databaseUrl("postgresql");
    const env = {
      DATABASE_URL: db.url,
      ENCRYPTION_KEY: randomBytes(32).toString("base64"),
      RUN_CONCURRENCY: String(perWorker),
    };
    using front = installation({ ...env, ROLE: "api" });
    using back = installation({ ...env, ROLE: "worker" });
    const api = await front.start();
    const user = userOf(api, await front.key());
    const [one, two] = await Promise.all([back.start(), back.start()]);
    const rows = async (sql: string) =>
      (await runDirectly(db, sql)).map((row) => Object.values(row).map(String));
    const running = () =>
      rows("SELECT node_id, COUNT(*) FROM task WHERE node_id IS NOT NULL GROUP BY node_id");

    const ids = await createMany(user, 2 * perWorker + 5, "[[say One]] [[forever]]");
    await eventually(
      "both are full",
      async () => (await running()).flatMap(([, count]) => count).join() === `${perWorker},${perWorker}`,
    );
    expect(await rows("SELECT COUNT(*) FROM node"), "a node that only answers calls is not a runner").toEqual(
      [["2"]],
    );
    expect(await rows("SELECT COUNT(*) FROM task WHERE node_id IS NULL AND status = 'running'")).toEqual([
      ["5"],
    ]);
    for (const { url } of [one, two])
      expect((await fetch(`${url}/v2/user.me`, { method: "POST" })).status).toBe(404);
    await Promise.all(ids.map((id) => user.call("task.stop", { task_id: id })));
    for (const id of ids) checkAnswered(await user.readTask(id));

    // More than one of them may run.
    const next = await createMany(user, 2 * perWorker, "[[say One]] [[sleep 3]] [[say Two]]");
    await eventually("both work", async () => (await running()).length === 2);
    expect(await one.end("SIGTERM")).toMatchObject({ code: 0 });
    for (const id of next)
      await eventually(`task ${id} ends`, async () => (await user.status(id)) === "stopped");
    for (const id of next) {
      const task = await user.readTask(id);
      checkAnswered(task);
      expect(
        task.events.flatMap(({ type, text }) => (type === "assistant_message" ? [text] : [])).slice(0, 2),
      ).toEqual(["One", "Two"]);
    }
    for (const server of [two, api]) expect(await server.end("SIGTERM")).toMatchObject({ code: 0 });
    expect(await rows("SELECT COUNT(*) FROM node"), "no node is left").toEqual([["0"]]);
  },
);
