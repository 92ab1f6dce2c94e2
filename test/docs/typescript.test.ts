import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { buildClient } from "../../scripts/client/build.ts";
import { clientFor } from "../client/rig.ts";
import { share } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { blocksIn, expectPrinted, readPage } from "./page.ts";

const test = sampledTest(3);

const run = promisify(execFile);
const blocks = blocksIn(readPage("docs/guides/typescript.md"), "ts");
const opening =
  blocks[0]?.split("\n").filter((line) => line.startsWith("import") || line.startsWith("const client")) ?? [];
/** A part of the page as a program: the first lines of the first part, unless it has them. */
const programOf = (block: string): string =>
  [...opening.filter((line) => !block.includes(line)), block].join("\n");

const project = mkdtempSync(join(tmpdir(), "typescript-guide-"));
let service: Service;
let ann: Person;
beforeAll(async () => {
  const installed = join(project, "node_modules/@agent-task-platform/client");
  mkdirSync(installed, { recursive: true });
  buildClient(installed);
  mkdirSync(join(project, "node_modules/@types"));
  symlinkSync(join(root, "node_modules/@types/node"), join(project, "node_modules/@types/node"));
  for (const name of ["undici-types", "zod"])
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  blocks.forEach((block, index) => void writeFileSync(join(project, `part-${index}.ts`), programOf(block)));
  const port = `${await freePort()}`;
  const profiles = "manus-1.6=offline,notes=remote";
  service = await openService({
    env: { PORT: port, BASE_URL: `http://127.0.0.1:${port}`, AGENT_PROFILES: profiles },
  });
  ann = await service.person();
}, 60_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(project, { recursive: true, force: true });
});

const parts = blocks.map((block, index) => ({
  block,
  file: `part-${index}.ts`,
  begins: block.split("\n")[0],
}));
const isWorker = ({ block }: { readonly block: string }) => block.includes("createWorker");

test.concurrent.each(
  share(
    parts.filter((part) => !isWorker(part)),
    0,
    3,
  ),
)("docs/guides/typescript.md: its program prints the texts of its comments: $file $begins", async ({
  block,
  file,
}) => {
  const env = { PATH: process.env["PATH"], ATP_URL: service.url, ATP_KEY: ann.key };
  const { stdout } = await run(process.execPath, [file], { cwd: project, env });
  expectPrinted(stdout, block);
});

test.each(
  parts.filter(isWorker),
)("docs/guides/typescript.md: its agent asks, requests an approval and writes a file: $file", async ({
  file,
}) => {
  const { secret } = await createWorker(service, ann, ["notes"]);
  const env = { PATH: process.env["PATH"], ATP_URL: service.url, WORKER_KEY: secret };
  const worker = spawn(process.execPath, [file], {
    cwd: project,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const task = await clientFor(service, ann).tasks.create({
    message: "Tea",
    agent_profile: "notes",
    interactive_mode: true,
  });
  await task.wait();
  await task.answer("Shopping");
  await task.wait();
  await task.confirm("terminalExecute", { accept: true });
  expect(await task.text()).toBe("The note Shopping is written.");
  expect(
    (await task.events({ verbose: true }).all()).filter(({ type }) => type === "tool_used"),
  ).toHaveLength(3);
  worker.kill("SIGTERM");
  expect(await once(worker, "exit")).toEqual([0, null]);
});

test("docs/guides/typescript.md: its programs have no type errors against the built package", async () => {
  const options = [
    "--noEmit",
    "--strict",
    "--target",
    "esnext",
    "--module",
    "nodenext",
    "--types",
    "node",
    "--allowImportingTsExtensions",
  ];
  const files = blocks.map((_, index) => `part-${index}.ts`);
  const { stdout } = await run(join(root, "node_modules/.bin/tsc"), [...options, ...files], {
    cwd: project,
  }).catch((error) => error);
  expect(stdout).toBe("");
});
