import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { protocolChecks } from "../../conformance/checks/protocol.ts";
import { runChecks } from "../../conformance/run.ts";
import { buildClient } from "../../scripts/client/build.ts";
import { sweepWorkerRuns } from "../../src/runtime/remote/held-run.ts";
import { depth, share } from "../support/depth.ts";
import { type ModelServer, openModelServer } from "../support/model/server.ts";
import { root } from "../support/server-process.ts";
import { taskRig } from "../support/task-rig.ts";
import { watcher } from "../support/watcher.ts";
import { createWorker, type TestWorker } from "../workers/worker-rig.ts";
import { doneText, keptText, type Stages, tidyModel } from "./stand-in.ts";

const run = promisify(execFile);
const examples = join(root, "examples/agents");
const frameworks = ["vercel-ai", "openai-agents", "langgraph", "claude-agent"] as const;
/** Of at most 110 characters. */
const linesMax = 120;

describe("an example agent", () => {
  test.each(frameworks)("of %s is short, can be parsed, and has exact versions and a lock", async (name) => {
    const file = join(examples, name, "agent.mjs");
    expect(readFileSync(file, "utf8").split("\n").length).toBeLessThanOrEqual(linesMax);
    await run(process.execPath, ["--check", file]);
    const { dependencies } = JSON.parse(readFileSync(join(examples, name, "package.json"), "utf8"));
    const lock = JSON.parse(readFileSync(join(examples, name, "package-lock.json"), "utf8"));
    expect(lock.packages[""].dependencies).toEqual(dependencies);
    const { "@agent-task-platform/client": client, ...others } = dependencies;
    expect(client).toBe("file:../../../packages/client");
    for (const version of Object.values(others)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test("has tools and helpers without packages, which can be parsed", async () => {
    for (const file of ["turns.mjs", "tools.mjs"]) {
      await run(process.execPath, ["--check", join(examples, file)]);
      expect(readFileSync(join(examples, file), "utf8")).not.toMatch(/from "[^.n]/);
    }
  });
});

// Each needs its packages from the registry: `npm run test:deep -- frameworks` runs all of them, a slice one.
describe.skipIf(depth === "short").each(share(frameworks, 0, frameworks.length))(
  "an agent of %s",
  { timeout: 60_000 },
  (name) => {
    const checkout = mkdtempSync(join(tmpdir(), "frameworks-"));
    const folder = join(checkout, "examples/agents");
    const rig = taskRig({ env: { AGENT_PROFILES: "tidy=remote" } });
    let model: ModelServer;
    let worker: TestWorker;
    const processes: ChildProcess[] = [];
    beforeAll(async () => {
      buildClient(join(checkout, "packages/client"));
      cpSync(examples, folder, { recursive: true, filter: (path) => !path.endsWith("node_modules") });
      await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: join(folder, name) });
      model = await openModelServer(name === "claude-agent" ? "anthropic" : "openai");
      worker = await createWorker(rig.service, rig.ann);
    }, 300_000);
    afterEach(async () => {
      for (const each of processes.splice(0)) await kill(each);
    });
    afterAll(async () => {
      await model[Symbol.asyncDispose]();
      rmSync(checkout, { recursive: true, force: true });
    });

    const modelUrl = () => (name === "claude-agent" ? new URL(model.baseUrl).origin : model.baseUrl);
    /** Starts a process of the agent. It gets nothing of the environment of this process but the path. */
    function start(stages: Stages = {}): ChildProcess {
      model.play(tidyModel(stages));
      const child = spawn(process.execPath, [join(folder, name, "agent.mjs")], {
        stdio: ["ignore", "inherit", "inherit"],
        env: {
          ...{
            PATH: process.env["PATH"],
            HOME: folder,
            ATP_URL: rig.service.url,
            WORKER_KEY: worker.secret,
            PROFILES: "tidy",
          },
          ...{ MODEL_URL: modelUrl(), MODEL_KEY: "sk-scripted", MODEL: "scripted" },
        },
      });
      processes.push(child);
      return child;
    }
    /** Kills it as when its machine fails; its lease ends. */
    async function crash(child: ChildProcess): Promise<void> {
      await kill(child);
      await sweepWorkerRuns({ store: rig.service.store, clock: { now: () => Date.now() + 60_000 } });
    }
    const create = () =>
      rig.create("Clean up the table old", { agent_profile: "tidy", interactive_mode: true });
    async function decide(id: string, accept: boolean): Promise<void> {
      await rig.reach(id, "waiting");
      const detail = (await rig.events(id)).at(-1)?.["status_update"].status_detail;
      expect(detail).toMatchObject({ waiting_for_event_type: "connectorAction" });
      const event_id = detail.waiting_for_event_id;
      const decided = await rig.ann.v2("task.confirmAction", { task_id: id, event_id, input: { accept } });
      expect(decided.body.ok).toBe(true);
    }
    const usesOf = async (id: string): Promise<readonly string[]> =>
      (await rig.events(id)).flatMap(({ type, tool_used: use }) =>
        type === "tool_used" && use.brief.startsWith("Used") ? [use.tool] : [],
      );
    const untilUsed = (id: string, tool: string) =>
      expect.poll(async () => (await usesOf(id)).includes(tool), { timeout: 30_000 }).toBe(true);
    const answerOf = async (id: string) =>
      (await rig.events(id)).findLast(({ type }) => type === "assistant_message")?.["assistant_message"];

    test("asks for an approval, attaches a file, and shows its answer while it writes it", async () => {
      const last = Promise.withResolvers<void>();
      start({ text: last.promise });
      const id = await create();
      await rig.reach(id, "waiting");
      const watching = watcher(rig.service.url, rig.ann, "sse", { deltas: true, taskId: id });
      await watching.until(2);
      await decide(id, true);
      await expect
        .poll(() => watching.deltas.map(({ text }) => text).join(""), { timeout: 30_000 })
        .toContain("All done");
      last.resolve();
      await rig.reach(id, "stopped");
      watching.close();
      await watching.end;
      const answer = await answerOf(id);
      expect(answer).toMatchObject({ content: doneText.join(""), attachments: [{ filename: "report.txt" }] });
      expect(
        await (await fetch(`${rig.service.url}${new URL(answer.attachments[0].url).pathname}`)).text(),
      ).toBe("3 rows");
      expect(await usesOf(id)).toEqual(["write_file", "delete_records"]);
    });

    test("asks a question, and knows it in the turn that the answer begins", async () => {
      start();
      const id = await rig.create("Which one?", { agent_profile: "tidy", interactive_mode: true });
      await rig.reach(id, "waiting");
      expect((await answerOf(id)).content).toBe("Red or blue?");
      await rig.send(id, "the blue one");
      await rig.reach(id, "stopped");
      expect((await answerOf(id)).content).toBe("You chose the blue one.");
    });

    test("continues after a kill before and after an approval, and repeats no use of a tool", async () => {
      const never = new Promise<never>(() => undefined);
      const first = start({ request: never });
      const id = await create();
      await untilUsed(id, "write_file");
      await crash(first);
      const second = start({ end: never });
      await decide(id, true);
      await untilUsed(id, "delete_records");
      await crash(second);
      start();
      await rig.reach(id, "stopped");
      expect(await answerOf(id)).toMatchObject({
        content: doneText.join(""),
        attachments: [{ filename: "report.txt" }],
      });
      expect(await usesOf(id)).toEqual(["write_file", "delete_records"]);
    });

    test("obeys the laws of the protocol in every situation", { timeout: 300_000 }, async () => {
      model.play(tidyModel());
      const variables = `MODEL_URL=${modelUrl()} MODEL_KEY=sk-scripted MODEL=scripted`;
      const command = `${variables} exec ${process.execPath} ${join(folder, name, "agent.mjs")}`;
      const checks = protocolChecks({ message: "Clean up the table old", answer: "yes", turnSeconds: 60 });
      const verdicts = await runChecks(checks, { command, patience: 30 }, () => undefined);
      expect(
        verdicts.filter(({ errors }) => errors.length > 0).map(({ check, errors }) => [check.name, errors]),
      ).toEqual([]);
      expect(verdicts).toHaveLength(checks.length);
    });

    test("does not do what the user refuses", async () => {
      start();
      const id = await rig.create("Clean up the table old", {
        agent_profile: "tidy",
        interactive_mode: true,
      });
      await decide(id, false);
      await rig.reach(id, "stopped");
      expect((await answerOf(id)).content).toBe(keptText);
      expect(await usesOf(id)).toEqual(["write_file"]);
    });
  },
);

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
