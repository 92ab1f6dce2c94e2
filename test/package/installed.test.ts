import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPackage, pack } from "../../scripts/package/build.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { secretDigest, secretTexts } from "../../src/core/keys/secret-text.ts";
import { migrationsOf } from "../../src/store/migrate.ts";
import { type Checkout, commandLine, emptyFolder, freePort } from "../commands/checkout.ts";
import { spawnServer } from "../faults/server.ts";
import { databaseUrl, rowsIn, runOn } from "../support/database.ts";
import { depth } from "../support/depth.ts";
import { after010, migratedBefore } from "../support/earlier-database.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { driveProgram } from "./program.ts";

const megabytesMax = 100;
/** This machine's way to the registry. */
const network = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = ""]) =>
    /CERT|PROXY/i.test(name) ? [[name, value]] : [],
  ),
);

const ready = /"msg":"ready"/;

/** Packages come from the registry, which takes a minute: `npm test` has contents.test.ts. */
describe.skipIf(depth !== "full")("the package in an empty folder", () => {
  let place: Checkout;
  let tarball: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    place = emptyFolder();
    const built = mkdtempSync(join(root, ".setup/package-test-"));
    await buildPackage(built);
    tarball = pack(built, place.path("tarball"));
    rmSync(built, { recursive: true });
    // The first Node in the machine's PATH may be older.
    mkdirSync(place.path("bin"));
    symlinkSync(process.execPath, place.path("bin/node"));
    env = { ...network, PATH: `${place.path("bin")}:${process.env["PATH"]}` };
  });
  afterAll(() => place[Symbol.dispose]());

  const secondsSince = (began: number): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;

  /** npx does not pass the signal on: it is for the program. */
  function endServers(): void {
    for (const pid of place
      .processes()
      .filter((one) => /\/atp(\.cjs)? serve\b/.test(commandLine(one)) && !/bwrap/.test(commandLine(one))))
      process.kill(pid, "SIGTERM");
  }

  /** Starts a server, reads the key of its first start, and ends it with SIGTERM. */
  async function serve(
    words: readonly string[],
    dataDir: string,
    use: (url: string, key: string) => Promise<void>,
  ): Promise<string> {
    const port = await freePort();
    const began = performance.now();
    const server = place.command(words, { ...env, PORT: `${port}`, DATA_DIR: dataDir });
    await server.says(ready);
    const seconds = secondsSince(began);
    await expect.poll(() => readFileSync(join(dataDir, "first-key"), "utf8")).not.toBe("");
    await use(`http://127.0.0.1:${port}`, readFileSync(join(dataDir, "first-key"), "utf8").trim());
    endServers();
    expect(await server.ended).toMatchObject({ err: expect.stringMatching(/"msg":"stopped"/) });
    return seconds;
  }

  async function createTask(url: string, key: string): Promise<void> {
    const call = async (name: string, body: object) => {
      const headers = { "x-service-api-key": key };
      const answer = await fetch(`${url}/v2/${name}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return JSON.parse(await answer.text());
    };
    const { task_id } = await call("task.create", { message: { content: "What is 12 * 4?" } });
    await expect.poll(() => call("task.detail", { task_id }).then(({ task }) => task.status)).toBe("stopped");
    expect(JSON.stringify(await call("task.listMessages", { task_id }))).toContain("48");
    for (const path of ["/app/", "/docs/operate/install.md", "/openapi.json"])
      expect((await fetch(`${url}${path}`)).status, path).toBe(200);
  }

  test("starts by npx, and ends a task", async () => {
    const seconds = await serve(
      ["npx", "--yes", "--package", tarball, "atp", "serve"],
      place.path("by-npx"),
      createTask,
    );
    console.log(`npx was ready after ${seconds}`);
  });

  test("serves in test mode by one line with npx, and by the action", async () => {
    const line = "npx --yes ./agent-task-platform.tgz serve --test";
    copyFileSync(tarball, place.path("agent-task-platform.tgz"));
    const server = place.command(["bash", "-c", line], { ...env, PORT: "0" });
    await server.says(/^\{"test":"on".*\}$/m);
    const { base_url, api_key } = JSON.parse(/^\{"test":"on".*\}$/m.exec(server.out())?.[0] ?? "");
    const read = (url: string, key: string) =>
      fetch(`${url}/v2/test.clock.read`, {
        method: "POST",
        headers: { "x-service-api-key": key },
        body: "{}",
      });
    expect((await read(base_url, api_key)).status).toBe(200);
    endServers();
    await server.ended;

    writeFileSync(place.path("env"), "");
    const action = {
      GITHUB_ENV: place.path("env"),
      PACKAGE: tarball,
      FLAGS: "--seed 7",
      TMPDIR: place.path("."),
    };
    expect(
      await place.command(["bash", join(root, "deploy/github-action/start.sh")], { ...env, ...action }).ended,
    ).toMatchObject({
      code: 0,
    });
    const [, url = "", key = ""] =
      /^ATP_URL=(.*)\nATP_KEY=(.*)$/m.exec(readFileSync(place.path("env"), "utf8")) ?? [];
    expect((await read(url, key)).headers.get("x-atp-test")).toBe("on");
    endServers();
  });

  test("installs without the tools that build it, in less than 100 MB", async () => {
    const began = performance.now();
    expect(await place.command(["npm", "install", tarball], env).ended).toMatchObject({ code: 0 });
    const megabytes = Number(
      execFileSync("du", ["-sm", place.path("node_modules")], { encoding: "utf8" }).split("\t")[0],
    );
    console.log(
      `npm install took ${secondsSince(began)}, ${megabytes} MB, ${readdirSync(place.path("node_modules")).length} folders`,
    );
    expect(megabytes).toBeLessThan(megabytesMax);
    expect(readdirSync(place.path("node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      ...["agent-task-platform", "better-sqlite3", "node-addon-api"],
    ]);
    // Every version is one that the packages ask for.
    expect(await place.command(["npm", "ls", "--all"], env).ended).toMatchObject({ code: 0 });
  });

  test("serves, exports, backs up and reports errors by their place in the source", async () => {
    await using database = await databaseUrl("sqlite");
    await driveProgram(place.path("node_modules/agent-task-platform"), database.url);
  });

  test("upgrades a database of 0.1.0: its key is accepted, its project is listed, and a new task ends", async () => {
    await using database = await migratedBefore("sqlite", after010);
    const text = secretTexts("sk-", "api-key").make(systemRandom);
    await runOn(
      database.url,
      `INSERT INTO account (id, email, name, locale, created_at) VALUES ('ann', 'ann@example.com', NULL, 'en', 1);
       INSERT INTO space (id, kind, account_id, created_at) VALUES ('north', 'team', NULL, 1);
       INSERT INTO team (id, space_id, name, created_at) VALUES ('t', 'north', 'main', 1);
       INSERT INTO membership (id, team_id, space_id, account_id, email, role, status, created_at)
         VALUES ('m', 't', 'north', 'ann', 'ann@example.com', 'owner', 'active', 1);
       INSERT INTO api_key (id, account_id, space_id, kind, name, digest, created_at)
         VALUES ('k', 'ann', 'north', 'general', 'first key', '${secretDigest(text)}', 1);
       INSERT INTO project (id, account_id, space_id, name, instruction, created_at) VALUES ('p', 'ann', 'north', 'Garden', '', 1);`,
    );
    const dataDir = place.path("upgraded");
    mkdirSync(dataDir);
    const life = spawnServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: "0" }, [], {
      folder: place.path("."),
      words: [place.path("node_modules/agent-task-platform/bin/atp.cjs"), "serve"],
    });
    try {
      const url = await life.ready;
      const listed = await fetch(`${url}/v2/project.list`, {
        method: "POST",
        headers: { "x-service-api-key": text },
        body: "{}",
      });
      expect(await listed.text()).toContain('"Garden"');
      await createTask(url, text);
      const [{ n = 0 } = {}] = await rowsIn(database.url, "SELECT count(*) AS n FROM _prisma_migrations");
      expect(n).toBe(migrationsOf("sqlite").length);
    } finally {
      life.child.kill("SIGTERM");
      expect(await life.ended).toBe(0);
    }
  });

  test.skipIf(lacks("bubblewrap"))("runs where only the data folder can be written", async () => {
    const dataDir = place.path("read-only");
    mkdirSync(dataDir);
    const isolated = [
      "bwrap",
      "--die-with-parent",
      "--ro-bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--bind",
      dataDir,
      dataDir,
    ];
    const program = place.path("node_modules/agent-task-platform/bin/atp.cjs");
    await serve([...isolated, process.execPath, program, "serve"], dataDir, createTask);
  });

  test("says one sentence on Node.js 20", async () => {
    const program = place.path("node_modules/agent-task-platform/bin/atp.cjs");
    const old = await place.command(["npx", "--yes", "--package", "node@20", "node", program, "serve"], env)
      .ended;
    expect(old).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/atp needs Node\.js 24 or newer, and this is Node\.js 20\.\S+: .+\.\n$/),
    });
  });
});
