import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect } from "vitest";
import type { TaskHandle } from "../../packages/client/src/index.ts";
import { depth } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { pythonWith } from "../support/tools.ts";
import { createWorker, remoteRig } from "../workers/worker-rig.ts";
import { clientFor } from "./rig.ts";

const test = sampledTest(3);

const rig = remoteRig();
/** The checks of the worker protocol meet these in a short run (`atp worker-check`). */
const deep = test.skipIf(depth === "short");
/** What the agents have shown (`test/client/agents.py`). */
interface Agents {
  readonly child: ChildProcess;
  readonly shown: readonly Readonly<Record<string, unknown>>[];
}
const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await stop(child);
});

async function start(variables: Readonly<Record<string, string>> = {}): Promise<Agents> {
  const { secret } = await createWorker(rig.service, rig.ann);
  const python = pythonWith("httpx") ?? "python3";
  const env = {
    ...{
      PATH: process.env["PATH"],
      PYTHONPATH: join(root, "packages/python/src"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
    ...{ ATP_URL: rig.service.url, WORKER_KEY: secret, ...variables },
  };
  const child = spawn(python, [join(root, "test/client/agents.py")], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  running.push(child);
  const shown: Readonly<Record<string, unknown>>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => shown.push(JSON.parse(line)));
  return { child, shown };
}

/** Stops the worker as an operator does. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
}

const create = async (message: string, more: object = {}): Promise<TaskHandle> =>
  await clientFor(rig.service, rig.ann).tasks.create({ message, interactive_mode: true, ...more });
const textsOf = async (task: TaskHandle): Promise<readonly string[]> =>
  (await task.events().all()).flatMap((event) =>
    event.type === "assistant_message" ? [event.assistant_message.content] : [],
  );

describe.skipIf(lacks("python-httpx"))("an agent in Python", () => {
  test("answers with a text, files and output; asks, and has the answers where it asked, and its steps are done once", async () => {
    await start();
    const schema = {
      type: "object",
      properties: { words: { type: "integer" } },
      required: ["words"],
      additionalProperties: false,
    };
    const answered = await create("answer me", { structured_output_schema: schema });
    expect(await answered.result()).toEqual({ words: 2 });
    expect(await answered.events({ order: "desc" }).all()).toContainEqual(
      expect.objectContaining({
        assistant_message: expect.objectContaining({
          content: "You wrote answer me",
          attachments: [
            expect.objectContaining({ filename: "small.txt" }),
            expect.objectContaining({ filename: "large.txt" }),
          ],
        }),
      }),
    );
    const task = await create("chairs");
    await task.wait();
    await task.answer("red");
    await task.wait();
    await task.answer("large");
    expect(await task.text()).toBe("chairs: red, large, 1");
    expect(await textsOf(task)).toEqual([
      "About chairs",
      "Which colour?",
      "Which size?",
      "Now I know.",
      "chairs: red, large, 1",
    ]);
  });

  test("requests approvals in the middle of its work, also when it catches everything; keeps a memo; waits for subtasks", async () => {
    const { shown } = await start();
    const task = await create("approvals");
    await task.wait();
    await task.confirm("terminalExecute", { accept: true });
    await task.wait();
    await task.answer("tmp");
    await task.wait();
    await task.confirm("deployAction", { accept: true });
    expect(await task.text()).toBe("True tmp True");
    expect(await textsOf(task)).toEqual(["Which folder?", "True tmp True"]);
    const kept = await create("memo");
    await kept.wait();
    await kept.answer("yes");
    expect(await kept.text()).toBe("done with {'place': 3}");
    expect(shown.filter(({ agent }) => agent === "memo").map(({ memo }) => memo)).toEqual([
      null,
      { place: 3 },
    ]);
    expect(await (await create("parent")).text()).toBe("ended: count owls done True, count bats done True");
  });

  deep(
    "that ends its turn by TurnFailure shows its text; of any other error users see a reference to the log",
    async () => {
      const { shown } = await start();
      const own = await create("own");
      await expect(own.text()).rejects.toThrow("no credits");
      for (const [message, text] of [
        ["plain", "out of paper"],
        ["nothing", "finish.content"],
      ] as const) {
        const task = await create(message);
        await expect(task.text()).rejects.toThrow(/The agent failed \(reference [0-9a-f]{12}\)\./);
        expect(JSON.stringify(await task.events({ verbose: true }).all())).not.toContain(text);
        const { error, notes } = shown.findLast((each) => each["error"] !== undefined) ?? {};
        expect(error).toContain(text);
        await expect(task.text()).rejects.toThrow(`(${notes})`);
      }
      expect(shown.filter(({ error }) => error !== undefined)).toHaveLength(2);
    },
  );

  deep("shows its answer while it writes it", async () => {
    const { child } = await start();
    const task = await create("write");
    const texts: string[] = [];
    for await (const event of task.stream({ deltas: true })) {
      if (event.type !== "text_delta") continue;
      texts.push(event.text);
      if (event.text === "one 🦉 two") child.stdin?.write("\n");
    }
    expect(texts.at(-1)).toBe("one 🦉 two");
  });

  test("is cancelled when its task is stopped, and writes nothing more", async () => {
    const { shown } = await start();
    const task = await create("hang");
    await expect.poll(() => shown.length).toBe(1);
    await task.stop();
    await expect.poll(() => shown.at(-1)).toEqual({ lost: true });
    expect(await textsOf(task)).toEqual([]);
  });

  deep(
    "is released when its worker stops and its time is over, and another worker continues at once",
    async () => {
      const { child, shown } = await start({ DRAIN: "0.01" });
      const task = await create("hang");
      await expect.poll(() => shown.length).toBe(1);
      await stop(child);
      await start();
      expect(await task.text()).toBe("continued by claim 2");
    },
  );

  deep("whose credential is refused ends with the error", async () => {
    const { child } = await start({ WORKER_KEY: "wk-unknown" });
    running.splice(0);
    expect(await once(child, "exit")).toEqual([1, null]);
  });
});
