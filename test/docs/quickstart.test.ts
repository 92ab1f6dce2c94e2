import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { buildClient } from "../../scripts/client/build.ts";
import { allow, authorizePath, createSignedInVisitor } from "../console/consent-rig.ts";
import { depth } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { lacks, needInShell } from "../support/needs.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { pythonWith } from "../support/tools.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { blocksIn, expectPrinted, readPage, shell, tabIn } from "./page.ts";

const test = sampledTest(3);

const run = promisify(execFile);
const api = readPage("docs/quickstart/api.md");
const agent = readPage("docs/quickstart/agent.md");
const app = readPage("docs/quickstart/app.md");

const folders: string[] = [];
const emptyFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "quickstart-"));
  folders.push(folder);
  return folder;
};

let service: Service;
let ann: Person;
let variables: Record<string, string>;
let tarball: string;
beforeAll(async () => {
  const port = `${await freePort()}`;
  const url = `http://127.0.0.1:${port}`;
  service = await openService({
    env: {
      PORT: port,
      BASE_URL: url,
      CONSENT_URL: url,
      AGENT_PROFILES: "manus-1.6=offline,greeter=remote",
      WEBHOOK_ALLOW: "loopback",
    },
  });
  ann = await service.person();
  variables = { ATP_URL: url, ATP_KEY: ann.key };
  const built = emptyFolder();
  buildClient(built);
  const { stdout } = await run("npm", ["pack", "--silent"], { cwd: built });
  tarball = join(built, stdout.trim());
}, 60_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder in which the page's commands have installed the client. */
async function installedFolder(install: string): Promise<string> {
  const folder = emptyFolder();
  await run("cp", [tarball, folder]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  await shell(`cd ${folder}; ${install}`);
  return folder;
}

test("docs/quickstart/api.md: its lines of curl print the texts of their comments", async () => {
  const script = tabIn(api, "sh", "curl").slice(1).join("\n");
  expectPrinted(await shell(`cd ${emptyFolder()}; ${script}`, variables), script);
});

test("docs/quickstart/api.md: its program in TypeScript prints the texts of its comments, from an empty folder", async () => {
  const folder = await installedFolder(tabIn(api, "sh", "TypeScript").join("\n"));
  const program = tabIn(api, "ts", "TypeScript").join("\n");
  writeFileSync(join(folder, "main.ts"), program);
  const { stdout } = await run(process.execPath, ["main.ts"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...variables },
  });
  expectPrinted(stdout, program);
});

// Node and tsx come from the registry.
test.skipIf(depth === "short").for([
  ["22.18.0", "node"],
  ["20", "tsx"],
] as const)(
  "docs/quickstart/api.md: its program in TypeScript prints the same on Node %s by %s",
  { timeout: 300_000 },
  async ([version, runner]) => {
    const folder = await installedFolder(tabIn(api, "sh", "TypeScript").join("\n"));
    await run("npm", ["install", "--no-save", "--no-audit", "--no-fund", tarball, `node@${version}`, "tsx"], {
      cwd: folder,
    });
    const program = tabIn(api, "ts", "TypeScript").join("\n");
    writeFileSync(join(folder, "main.ts"), program);
    const env = {
      PATH: `${join(folder, "node_modules/node/bin")}:${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`,
      ...variables,
    };
    expect((await run("node", ["--version"], { env })).stdout).toMatch(new RegExp(`^v${version}\\b`));
    expectPrinted((await run(runner, ["main.ts"], { cwd: folder, env })).stdout, program);
  },
);

test.skipIf(lacks("python-httpx"))(
  "docs/quickstart/api.md: its program in Python prints the texts of its comments",
  async () => {
    const program = tabIn(api, "python", "Python").join("\n");
    writeFileSync(join(emptyFolder(), "main.py"), program);
    const env = {
      PATH: process.env["PATH"],
      PYTHONPATH: join(root, "packages/python/src"),
      PYTHONDONTWRITEBYTECODE: "1",
      ...variables,
    };
    const { stdout } = await run(pythonWith("httpx") ?? "python3", [join(folders.at(-1) ?? "", "main.py")], {
      env,
    });
    expectPrinted(stdout, program);
  },
);

test("docs/quickstart/api.md: its commands of atp print the texts of their comments", async () => {
  const script = tabIn(api, "sh", "CLI").join("\n");
  const folder = emptyFolder();
  symlinkSync(join(root, "atp"), join(folder, "atp"));
  expectPrinted(
    await shell(`cd ${folder}; ${script}`, { ...variables, HOME: folder, XDG_CONFIG_HOME: folder }),
    script,
  );
});

test("docs/quickstart/agent.md: its agent asks, requests an approval and greets, from an empty folder", async () => {
  const [, install = "", use = ""] = blocksIn(agent, "sh");
  needInShell(use);
  const folder = await installedFolder(install.split("\n").slice(0, 2).join("\n"));
  const [program = ""] = blocksIn(agent, "ts");
  writeFileSync(join(folder, "agent.ts"), program);
  const { secret: WORKER_KEY } = await createWorker(service, ann, ["greeter"]);
  const env = { PATH: process.env["PATH"], ...variables, WORKER_KEY };
  const worker = spawn(process.execPath, ["agent.ts"], {
    cwd: folder,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  expectPrinted(await shell(use, variables), use);
  worker.kill("SIGTERM");
  expect(await once(worker, "exit")).toEqual([0, null]);
});

/** A program in a folder, until the end of the block. */
function startProgram(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, words, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

test("docs/quickstart/app.md: its app gets consent, creates a task, receives its webhook and signs out, from an empty folder", async () => {
  const appPort = `${await freePort()}`;
  const home = `http://127.0.0.1:${appPort}`;
  const here = (text: string): string => text.replaceAll("8123", appPort);
  const [, , register = "", start = "", connect = ""] = blocksIn(app, "sh").map(here);
  const folder = await installedFolder(start.split("\n").slice(0, 2).join("\n"));
  const [program = ""] = blocksIn(app, "ts").map(here);
  writeFileSync(join(folder, "app.ts"), program);
  const printed = await shell(`${register}\necho "$CLIENT_ID $WEBHOOK_PUBLIC_KEY"`, variables);
  const [CLIENT_ID = "", WEBHOOK_PUBLIC_KEY = ""] = printed.trim().split(" ");
  const env = { PATH: process.env["PATH"], ATP_URL: variables["ATP_URL"], CLIENT_ID, WEBHOOK_PUBLIC_KEY };
  await using running = startProgram(["app.ts"], folder, env);
  const lines = createInterface(running.child.stdout);
  const shown: string[] = [];
  lines.on("line", (line) => shown.push(line));
  const shows = async (line: string) => {
    while (!shown.includes(line)) await once(lines, "line");
  };
  await shows("ready");
  expectPrinted(
    await shell(`${register.split("\n\n")[0]}\n${connect}`, { ...variables, CLIENT_ID }),
    connect,
  );

  const { location } = await fetch(`${home}/`, { redirect: "manual" }).then(({ headers }) => ({
    location: headers.get("location") ?? "",
  }));
  const browser = await createSignedInVisitor(service.url, ann);
  const { pathname, search } = new URL(location);
  const consented = await browser.send(await browser.get(pathname + search), authorizePath, allow);
  const answered = async (address: string) => await (await fetch(address)).text();
  expect(await answered(consented.location)).toContain("12 * 4 = 48");
  await shows("task_stopped");
  expect(await answered(`${home}/sign-out`)).toBe("signed out: AuthenticationError");
  expectPrinted(shown.join("\n"), program);
});
