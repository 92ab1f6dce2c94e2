import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { clientFor } from "../client/rig.ts";
import { depth, share } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { lacks } from "../support/needs.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { pythonWith } from "../support/tools.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { blocksIn, expectPrinted, readPage } from "./page.ts";

const test = sampledTest(3);

const run = promisify(execFile);
const page = readPage("docs/guides/python.md");
const blocks = blocksIn(page, "python");
const opening =
  blocks[0]?.split("\n").filter((line) => line.startsWith("from") || line.startsWith("client =")) ?? [];
/** A part of the page as a program: the first lines of the first part, unless it has its own client. */
const programOf = (block: string): string =>
  [...(block.includes("Client() ") ? [] : opening), block].join("\n");

const project = mkdtempSync(join(tmpdir(), "python-guide-"));
const path = { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1" };
let service: Service;
let ann: Person;
let python: string;
beforeAll(async () => {
  blocks.forEach((block, index) => void writeFileSync(join(project, `part_${index}.py`), programOf(block)));
  const port = `${await freePort()}`;
  const profiles = "manus-1.6=offline,notes=remote";
  service = await openService({
    env: { PORT: port, BASE_URL: `http://127.0.0.1:${port}`, AGENT_PROFILES: profiles },
  });
  ann = await service.person();
  python = pythonWith("httpx, cryptography") ?? "python3";
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(project, { recursive: true, force: true });
});

const parts = blocks.map((block, index) => ({
  block,
  file: `part_${index}.py`,
  begins: block.split("\n")[0],
}));

const isWorker = ({ block }: { readonly block: string }) => block.includes("Worker(");
const programs = parts.filter((part) => !isWorker(part));

test.skipIf(lacks("python-httpx")).concurrent.each(share(programs, 0, 3))(
  "docs/guides/python.md: its program prints the texts of its comments: $file $begins",
  async ({ block, file }) => {
    const env = {
      ...path,
      PYTHONPATH: join(root, "packages/python/src"),
      ATP_URL: service.url,
      ATP_KEY: ann.key,
    };
    const { stdout } = await run(python, [file], { cwd: project, env });
    expectPrinted(stdout, block);
  },
);

test.skipIf(lacks("python-httpx")).each(parts.filter(isWorker))(
  "docs/guides/python.md: its agent asks, requests an approval and writes a file: $file",
  async ({ file }) => {
    const { secret } = await createWorker(service, ann, ["notes"]);
    const env = {
      ...path,
      PYTHONPATH: join(root, "packages/python/src"),
      ATP_URL: service.url,
      WORKER_KEY: secret,
    };
    const worker = spawn(python, [file], { cwd: project, env, stdio: ["ignore", "inherit", "inherit"] });
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
    worker.kill("SIGTERM");
    expect(await once(worker, "exit")).toEqual([0, null]);
  },
);

test.skipIf(depth === "short" || lacks("python-build"))(
  "docs/guides/python.md: its programs and the package have no type errors",
  { timeout: 300_000 },
  async () => {
    const files = parts.map(({ file }) => file);
    const env = { ...path, MYPYPATH: join(root, "packages/python/src") };
    const options = ["--strict", "--allow-untyped-calls"];
    const { stdout } = await run("mypy", [...options, ...files], { cwd: project, env }).catch(
      (error) => error,
    );
    expect(stdout).toMatch(/^Success: /);
  },
);

test.skipIf(depth === "short" || lacks("python-build"))(
  "docs/guides/python.md: its commands build a wheel and a source archive, and pip installs the wheel into an empty environment, where it runs a task",
  async () => {
    const copy = join(project, "packages/python");
    cpSync(join(root, "packages/python"), copy, {
      recursive: true,
      filter: (source) => !/__pycache__|\/dist$|\.mypy_cache/.test(source),
    });
    const [command = ""] = blocksIn(page, "sh");
    expect(command).toMatch(/^\.\/atp client /);
    // The set-up of this checkout ran it.
    await run("bash", ["-ec", command.slice(command.indexOf("\n"))], {
      cwd: project,
      env: { ...path, PATH: `/usr/bin:${path.PATH}` },
    });
    const built = readdirSync(join(copy, "dist")).toSorted();
    expect(built).toEqual(["agent_task_platform-0.2.0-py3-none-any.whl", "agent_task_platform-0.2.0.tar.gz"]);
    // The environment has the machine's httpx, because tests have no index of packages; pip checks its
    // version.
    const environment = join(project, "environment");
    await run(python, ["-m", "venv", "--system-site-packages", environment], { env: path });
    const installed = join(environment, "bin/python");
    const wheel = join(copy, "dist", built[0] ?? "");
    await run(installed, ["-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel], {
      env: path,
    });
    const env = { ...path, ATP_URL: service.url, ATP_KEY: ann.key };
    expect((await run(installed, ["part_0.py"], { cwd: project, env })).stdout).toContain("12 * 4 = 48");
    const files =
      "import agent_task_platform as atp, importlib.resources as r; print(atp.__file__, r.files(atp).joinpath('py.typed').is_file())";
    expect((await run(installed, ["-c", files], { env: path })).stdout).toMatch(
      new RegExp(`^${environment}/.* True\n$`),
    );
  },
);
