import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { checks } from "../../conformance/checks/checks.ts";
import { protocolChecks } from "../../conformance/checks/protocol.ts";
import { file_worker_v1_event } from "../../src/gen/proto/worker/v1/event_pb.ts";
import { file_worker_v1_run } from "../../src/gen/proto/worker/v1/run_pb.ts";
import {
  file_worker_v1_worker_service,
  WorkerService,
} from "../../src/gen/proto/worker/v1/worker_service_pb.ts";
import { sampledTest } from "../support/sampled.ts";
import { root, startServer } from "../support/server-process.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const protocol = readPage("docs/guides/worker-protocol.md");
const rules = readPage("docs/guides/worker-rules.md");
const run = promisify(execFile);

/** The guide's commands of curl, each with the comments after it. */
const steps = blocksIn(readPage("docs/guides/agents.md"), "sh")
  .filter((block) => block.startsWith("curl"))
  .flatMap((block) => block.trim().split(/\n(?=curl)/))
  .map((step) => {
    const lines = step.split("\n");
    return {
      command: lines.filter((line) => !line.startsWith("# ")).join("\n"),
      answer: lines.filter((line) => line.startsWith("# ")).map((line) => line.slice(2)),
    };
  });

/** Whether an answer has the values in a comment; `…` between two quotes matches any text. */
function expectShown(answer: unknown, line: string): void {
  const squeezed = line.replaceAll(/\s/g, "");
  const pieces = squeezed.split('"…",');
  for (const piece of pieces) expect(JSON.stringify(answer).replaceAll(/\s/g, ""), line).toContain(piece);
}

/** The row of a table of the protocol that begins with this. */
function row(name: string): string {
  const found = protocol.split("\n").filter((line) => line.startsWith(`| \`${name}\` |`));
  expect(found.length, name).toBeGreaterThan(0);
  return found.join("\n");
}

test("docs/guides/agents.md runs a task to its end by its commands, and each answers as its comment says", async () => {
  await using server = await startServer({ AGENT_PROFILES: "manus-1.6=remote" });
  const { PATH = "" } = process.env;
  const env = { PATH, DATA_DIR: server.dataDir };
  const { stdout } = await run(process.execPath, ["cli/main.ts", "worker-key", "--name", "laptop"], {
    cwd: root,
    env,
  });
  const known: Record<string, string> = {
    ATP_URL: server.url,
    ATP_KEY: server.key,
    WORKER_KEY: stdout.trim(),
  };
  for (const { command, answer } of steps) {
    const said = JSON.parse(await shell(command, known));
    known["TASK"] ??= said.task_id;
    known["FENCE"] ??= said.run?.fence;
    for (const line of answer) expectShown(said, line);
  }
  const called = steps.map(
    ({ command }) =>
      /\/(?:v2|worker\.v1\.WorkerService|settings\.v1\.WorkerService)\/?([\w.]+)/.exec(command)?.[1],
  );
  expect(called).toEqual([
    ...[
      "task.create",
      "Poll",
      "Append",
      "Append",
      "Heartbeat",
      "WriteText",
      "Finish",
      "task.listMessages",
      "Append",
      "ListWorkers",
    ],
  ]);
});

test("docs/guides/worker-protocol.md has every operation with all members of requests and answers", () => {
  for (const { name, input, output } of WorkerService.methods)
    for (const { jsonName } of [...input.fields, ...output.fields])
      expect(row(name), name).toContain(`\`${jsonName}\``);
});

const messages = [file_worker_v1_run, file_worker_v1_event, file_worker_v1_worker_service].flatMap(
  (file) => file.messages,
);

const described = messages
  .filter(({ name }) => !/(Request|Response)$/.test(name))
  .map(({ name, fields }) => [name, fields] as const);

test.each(described)("docs/guides/worker-protocol.md has every member of %s", (name, fields) => {
  for (const { jsonName } of fields) expect(row(name)).toContain(`\`${jsonName}\``);
});

test("docs/guides/worker-rules.md says that a run's events are stored ones", () => {
  const { fields } = messages.find(({ name }) => name === "Run") ?? { fields: [] };
  expect(fields.find(({ name }) => name === "events")?.message?.name).toBe("WrittenEvent");
  expect(rules).toMatch(/`events` of a run are [^.]*each a `WrittenEvent`/);
});

test("docs/guides/worker-rules.md lists the checks of the kit", () => {
  const listed = [...rules.matchAll(/^\| `([a-z]+)` \| (.*) \|$/gm)].map(([, name, about]) => ({
    name,
    about,
  }));
  const all = [...checks, ...protocolChecks({ message: "", answer: "", turnSeconds: 1 })];
  expect(listed).toEqual(all.map(({ name, about }) => ({ name, about })));
});
