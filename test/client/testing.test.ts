import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { startPlatform } from "../../packages/client/src/testing.ts";
import { depth } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { pythonWith } from "../support/tools.ts";

const server = [process.execPath, join(root, "cli/main.ts")];
const folder = mkdtempSync(join(tmpdir(), "testing-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a test file starts a server, moves its clock, gets its webhooks, causes faults and resets it", async () => {
  const fixtures = join(folder, "fixtures.json");
  writeFileSync(
    fixtures,
    JSON.stringify([{ name: "project", call: "project.create", with: { name: "Demo" } }]),
  );
  const platform = await startPlatform({
    server,
    at: "2030-01-01T00:00:00Z",
    fixtures,
    env: { DRAIN_SECONDS: "1" },
  });
  const { client, clock } = platform;
  expect((await clock.now()).toISOString()).toMatch(/^2030-01-01T00:0/);
  const projects = async () => (await client.call("project.list", {})).data.map(({ name }) => name);
  expect(await projects()).toEqual(["Demo"]);

  const receiver = await platform.receiver();
  const { task_id } = await client.call("task.create", {
    message: { content: "[[sleep 3600]] [[say Done.]]" },
  });
  expect((await clock.advance({ hours: 2 })).toISOString()).toMatch(/^2030-01-01T02:0/);
  expect(await receiver.waitFor("task_stopped")).toMatchObject({ task_detail: { task_id } });
  await platform.fault("bad-signature", { webhookId: receiver.webhookId });
  await client.call("task.create", { message: { content: "Hello." } });
  await clock.advance({ seconds: 1 });
  expect([receiver.invalid.length, receiver.events.length]).toEqual([1, 3]);
  await expect(receiver.waitFor(() => false, { timeoutMs: 1 })).rejects.toThrow(
    "arrived: task_created, task_stopped",
  );

  await platform.fault("status=503; times=2", { operation: "task.list" });
  const space = await platform.space("Acme");
  // The client repeats a read.
  expect((await space.memberClient.call("task.list", {})).data).toEqual([]);
  await expect(platform.fault("statsu=503")).rejects.toThrow("did you mean status?");

  // The same server, as a second test file of this process gets it.
  const again = await startPlatform({
    server,
    at: "2030-01-01T00:00:00Z",
    fixtures,
    env: { DRAIN_SECONDS: "1" },
  });
  expect([again.baseUrl, (await again.client.call("task.list", {})).data]).toEqual([platform.baseUrl, []]);
  expect((await clock.now()).toISOString()).toMatch(/^2030-01-01T00:0/);
  await receiver.close();
  await platform.stop();
  await expect(fetch(platform.baseUrl)).rejects.toThrow();
});

test("a server that does not start is an error with its log", async () => {
  await expect(startPlatform({ server, env: { NODE_ENV: "production" } })).rejects.toThrow(
    "test mode does not start with production",
  );
});

test("a start loads no client of Prisma, which takes a fifth of its time", async () => {
  const loaded = join(folder, "loaded.txt");
  const hook = `import { appendFileSync } from "node:fs"; import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(loaded)}, url + "\\n"); return next(url, context); } });`;
  const [node = "", main = ""] = server;
  await using _platform = await startPlatform({
    server: [node, "--import", `data:text/javascript,${encodeURIComponent(hook)}`, main],
  });
  const names = readFileSync(loaded, "utf8").split("\n");
  expect(names.filter((name) => name.includes("/src/start/platform.ts"))).toHaveLength(1);
  expect(names.filter((name) => name.includes("@prisma/client/"))).toEqual([]);
});

test("a server ends with the process that started it, also when that is killed", async () => {
  const program = `import { startPlatform } from ${JSON.stringify(join(root, "packages/client/src/testing.ts"))};
    const { baseUrl } = await startPlatform({ server: ${JSON.stringify(server)} });
    console.log(baseUrl);
    setInterval(() => {}, 1000);`;
  const file = join(folder, "parent.ts");
  writeFileSync(file, program);
  const parent = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(parent.stdout, "data");
  const url = String(line).trim();
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  parent.kill("SIGKILL");
  await expect
    .poll(
      () =>
        fetch(`${url}/livez`).then(
          () => "serves",
          () => "ended",
        ),
      { timeout: 20_000 },
    )
    .toBe("ended");
});

const python = test.skipIf(depth === "short" || lacks("python-httpx"));
python(
  "Python has the same, with fixtures of pytest where that is installed",
  { timeout: 120_000 },
  async () => {
    const program = pythonWith("httpx, cryptography") ?? "python3";
    const env = {
      ...{
        PATH: process.env["PATH"],
        PYTHONPATH: join(root, "packages/python/src"),
        PYTHONDONTWRITEBYTECODE: "1",
      },
      ATP_SERVER: server.join(" "),
    };
    const { stdout } = await promisify(execFile)(program, [join(root, "test/client/testing.py")], { env });
    expect(stdout.trim()).toBe("passed");
    const pytest = pythonWith("pytest, httpx");
    if (pytest === undefined) return;
    const run = promisify(execFile)(
      pytest,
      [
        "-m",
        "pytest",
        "-q",
        "-p",
        "agent_task_platform.testing.plugin",
        join(root, "test/client/testing_pytest.py"),
      ],
      { env },
    );
    expect((await run).stdout).toContain("2 passed");
  },
);
