import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openProxy } from "../../conformance/proxy.ts";
import { depth, seed } from "../support/depth.ts";
import { checkAnswered } from "../support/invariants.ts";
import { testMs } from "../support/patience.ts";
import { ownEnvironment, root } from "../support/server-process.ts";
import { type Caller, callerOf } from "./harness/caller.ts";
import { seededRandom } from "./harness/seeded-random.ts";
import { openSetUp, type SetUp, setUpNames } from "./harness/set-up.ts";
import { timeline } from "./harness/timeline.ts";
import { type Watcher, watch } from "./harness/watch-record.ts";
import { eventually, userOf } from "./server.ts";

const victims = { sqlite: ["worker", "node"], postgresql: ["worker", "node", "database"] } as const;
type Victim = (typeof victims)[keyof typeof victims][number];
const rounds = depth === "full" ? 2 : 1;
const words = Array.from({ length: 150 }, (_, i) => `w${i}`).join(" ");

/** The agent of the example worker: it writes the message, a word every 60 ms. */
const writer = `export async function work(turn, run) {
  const text = turn.messages.map(({ content }) => content).join("");
  for (const { index } of text.matchAll(/ |$/g)) {
    await run.show(text.slice(0, index));
    await run.pause(60);
  }
  return { finish: { content: text } };
}
`;

/** Example workers that write texts. They call any node that answers. */
async function openWorkers({ cluster }: SetUp, caller: Caller) {
  const folder = mkdtempSync(join(tmpdir(), "writer-"));
  copyFileSync(join(root, "examples/workers/worker.ts"), join(folder, "worker.ts"));
  writeFileSync(join(folder, "agent.ts"), writer);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const command = { cwd: root, env: { ...ownEnvironment(), ...cluster.env } };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["cli/main.ts", "worker-key", "--name", "writer"],
    command,
  );
  const proxy = await openProxy(() =>
    caller.readyUrl() === undefined ? null : Number(new URL(caller.readyUrl() ?? "").port),
  );
  const env = { ...ownEnvironment(), ATP_URL: proxy.url, WORKER_KEY: stdout.trim() };
  const start = () => spawn(process.execPath, ["worker.ts"], { cwd: folder, env, stdio: "ignore" });
  let child = start();
  async function kill(): Promise<void> {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  return {
    async replace() {
      await kill();
      child = start();
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await proxy[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A task whose answer is written for seconds, and a watcher at each node. */
async function beginWatched(
  nodes: SetUp["cluster"]["nodes"],
  caller: Caller,
  content: string,
  agent_profile: string,
) {
  const { body } = await caller.settle(
    "task.create",
    { message: { content }, agent_profile },
    { key: randomUUID() },
  );
  const id = String(body["task_id"]);
  const at = nodes.map((node): Caller => ({ ...caller, readyUrl: () => node.url }));
  return { id, watchers: at.map((one) => watch(one, id, true, true)) };
}

/**
 * They wait 15 s for a worker or a process to count as dead. watch-texts.test.ts and write-text.test.ts have
 * short forms of them.
 */
describe.skipIf(depth === "short")("texts that are written while something is killed", () => {
  test.each(setUpNames)("end as their messages, once, and equal for all watchers: %s", {
    timeout: testMs + rounds * 180_000,
  }, async (name) => {
    const times = timeline();
    const dice = seededRandom(`texts ${name} ${seed}`);
    await using setUp = await openSetUp(name, times, {
      AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=offline",
    });
    if (!setUp) return console.error("\n  *** No PostgreSQL: ITS KILLS ARE SKIPPED ***\n");
    const { nodes, key } = setUp.cluster;
    const caller = callerOf({ nodes, key, dice, tally: new Map(), attemptMs: 30_000 });
    await using workers = await openWorkers(setUp, caller);

    /** Resolves when all watchers have seen some words. */
    async function beginWritten(content: string, profile: string) {
      const task = await beginWatched(nodes, caller, content, profile);
      await Promise.all(
        task.watchers.map(({ record, untilTrue }) =>
          untilTrue(() => record.texts.some((text) => text.includes("w5"))),
        ),
      );
      return task;
    }

    async function kill(victim: Victim): Promise<void> {
      if (victim === "worker") await workers.replace();
      if (victim === "node") dice.pick(nodes).signal("SIGKILL");
      if (victim === "database") await setUp?.database?.restart("immediate", 500);
    }

    async function expectWhole(id: string, watchers: readonly Watcher[]): Promise<void> {
      const status = async () => (await caller.settle("task.detail", { task_id: id })).body["task"].status;
      await eventually(`task ${id} ends`, async () => (await status()) !== "running");
      const user = userOf({ url: caller.readyUrl() ?? "" }, key);
      const task = await user.readTask(id);
      checkAnswered(task);
      expect(task.status).toBe("stopped");
      expect(task.events.flatMap(({ type, text }) => (type === "assistant_message" ? [text] : []))).toEqual([
        words,
      ]);
      for (const { record, until } of watchers) {
        await until(task.events.length);
        expect(record.violations).toEqual([]);
        expect(record.events).toEqual(watchers[0]?.record.events);
        expect(record.texts.filter((text) => !words.startsWith(text))).toEqual([]);
      }
    }

    for (let round = 0; round < rounds; round += 1) {
      for (const victim of victims[name]) {
        // The worker's process takes longer to begin.
        const tasks = [
          await beginWritten(words, "manus-1.6"),
          await beginWritten(`[[stream ${words}]]`, "manus-1.6-lite"),
        ];
        const watchers = tasks.flatMap((task) => task.watchers);
        await delay(dice.between(0, 1000));
        const events = watchers.map(({ record }) => record.events.length);
        expect(Math.max(...events), "killed in the middle").toBeLessThan(3);
        times.note(`killed: ${victim}`);
        await kill(victim);
        for (const { id, watchers: own } of tasks) await expectWhole(id, own);
        for (const { close } of watchers) close();
      }
    }
  });
});
