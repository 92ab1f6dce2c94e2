import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";
import { freePort } from "../commands/checkout.ts";
import { eventually, installation, type Server, spawnServer, userOf } from "../faults/server.ts";
import { post, toolCall } from "../mcp/post.ts";
import { runOn } from "../support/database.ts";
import { pdfOf } from "../support/pdf.ts";
import { root } from "../support/server-process.ts";

/** A module that reports on standard error which files the process loads. */
const loadReport = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) { process.stderr.write("loads " + url + "\\n"); return next(url, context); } });`)}`;

/** Packages that neither a start nor a task of the offline agent needs. */
const lazyPackages =
  /node_modules\/(?:@aws-sdk|@ai-sdk|ai|@modelcontextprotocol|@opentelemetry\/sdk|@simplewebauthn|flydrive|nodemailer|openid-client|unpdf)\//;

/**
 * Drives the program of a package in a folder: a first start, a task, the pages, metrics, a tool of MCP, an
 * export, a backup and other commands, and an internal error, whose stack names lines of the source. Nothing
 * of this checkout is in the program's reach.
 */
export async function driveProgram(folder: string, databaseUrl: string): Promise<void> {
  const [port, adminPort] = [await freePort(), await freePort()];
  using place = installation({
    ...{
      DATABASE_URL: databaseUrl,
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    },
  });
  const program = join(folder, "bin/atp.cjs");
  const life = spawnServer(place.env, [loadReport], { folder: place.dataDir, words: [program, "serve"] });
  try {
    const server = {
      ...life,
      url: await life.ready,
      end: () => Promise.reject(new Error("ended by the caller")),
    };
    expect(sourcesOf(loadedFiles(life.stderrText())).filter((source) => lazyPackages.test(source))).toEqual(
      [],
    );
    const key = await place.key();
    await endTask(server, key);
    await readPages(server.url, `http://127.0.0.1:${adminPort}`);
    expect(
      await post(`${server.url}/mcp`, { "x-service-api-key": key }, toolCall("task_list", {})),
    ).toMatchObject({
      message: { result: { content: [{ text: expect.stringContaining("What is 12 * 4?") }] } },
    });
    await runCommands(program, place.dataDir, { ...place.env, ATP_URL: server.url, ATP_KEY: key });
    await failOnce(server, key, databaseUrl);
    life.child.kill("SIGTERM");
    expect(await life.ended).toBe(0);
  } finally {
    life.child.kill("SIGKILL");
  }
}

async function endTask(server: Server, key: string): Promise<void> {
  const user = userOf(server, key);
  const id = await user.create("What is 12 * 4?");
  await eventually("the turn ends", async () => (await user.status(id)) === "stopped");
  expect(JSON.stringify(await user.readTask(id))).toContain("48");
}

async function readPages(url: string, adminUrl: string): Promise<void> {
  const read = async (address: string) => {
    const answer = await fetch(address);
    return answer.ok ? await answer.text() : `${answer.status} of ${address}`;
  };
  const page = await read(`${url}/app/`);
  const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "none";
  expect(await read(new URL(script, url).href)).toContain("import");
  expect(await read(`${url}/sign-in`)).toContain("<form");
  expect(await read(`${url}/docs/operate/install.md`)).toContain("# Install");
  expect(JSON.parse(await read(`${url}/openapi.json`))).toMatchObject({ openapi: expect.any(String) });
  expect(await read(`${adminUrl}/metrics`)).toContain("atp_calls_total{");
}

/** The export reads in a thread; on SQLite also the statements of `status` and `doctor`. */
async function runCommands(
  program: string,
  dataDir: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const atp = async (...words: readonly string[]) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd: dataDir,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [printed, [code]] = await Promise.all([textOf(child.stdout, child.stderr), once(child, "close")]);
    return `${code}: ${printed}`;
  };
  const [exported, backedUp, status, made, filtered, refused] = await Promise.all([
    atp("export", "create", "--email", "owner@localhost", "--wait", "--out", "export.zip"),
    atp("backup", "copy"),
    atp("status", "--json"),
    atp("key", "--name", "second"),
    atp("whoami", "--jq", ".credential_kind"),
    atp("client"),
  ]);
  expect(exported).toContain("0: ");
  expect(readFileSync(join(dataDir, "export.zip")).subarray(0, 2).toString()).toBe("PK");
  expect(backedUp).toContain("0: ");
  expect(existsSync(join(dataDir, "copy/manifest.json"))).toBe(true);
  expect(status).toContain('"version"');
  expect(made).toMatch(/\bsk-/);
  expect(filtered).toBe("0: key\n");
  expect(refused).toContain("1: atp client works in a checkout of the project only");
}

/** Loses a table, so that a call fails, and looks for its line in the log. */
async function failOnce(server: Server, key: string, databaseUrl: string): Promise<void> {
  await runOn(databaseUrl, "ALTER TABLE project RENAME TO project_lost");
  expect(await userOf(server, key).call("project.list", {})).toMatchObject({ status: 500 });
  const lines = () => server.stderrText().split("\n").slice(0, -1);
  await eventually("the line", async () => lines().some((each) => each.includes('"msg":"a call failed')));
  const line = lines().find((each) => each.includes('"msg":"a call failed')) ?? "{}";
  const { stack }: { readonly stack: string } = JSON.parse(line).cause;
  const [, name, path = "none", at] =
    /at (?:async )?(?:\w+\.)?(\w+) \((src\/rpc\/[\w/-]+\.ts):(\d+):\d+\)/.exec(stack) ?? [];
  expect(name, stack).toBe("listProjects");
  expect(readFileSync(join(root, path), "utf8").split("\n")[Number(at) - 1], stack).toContain(".list(");
  expect(stack).not.toMatch(/\.js:\d/);
}

const textOf = async (...streams: readonly Readable[]): Promise<string> =>
  (await Promise.all(streams.map(text))).join("");

/** The files of `lib` that a process has reported. */
const loadedFiles = (log: string): readonly string[] =>
  [...log.matchAll(/^loads (file:.*\/lib\/.+\.js)$/gm)].map(([, url = ""]) => fileURLToPath(url));

/** The modules whose code a file of `lib` has. */
const sourcesOf = (files: readonly string[]): readonly string[] =>
  files
    .filter((file) => existsSync(`${file}.map`))
    .flatMap((file): readonly string[] => JSON.parse(readFileSync(`${file}.map`, "utf8")).sources);

/** Reads a document and converts Markdown in the threads of the package. */
export async function driveThreads(folder: string): Promise<void> {
  const answerOf = async (name: string, workerData: unknown): Promise<unknown> => {
    const worker = new Worker(join(folder, "lib", name), { workerData, env: {}, execArgv: [] });
    const [answer] = await once(worker, "message");
    await worker.terminate();
    return answer;
  };
  expect(await answerOf("markdown-worker.js", { text: "# Title" })).toContain("<h1>Title</h1>");
  expect(await answerOf("html-worker.js", { html: "<p><b>Tea", url: null })).toEqual({
    title: "",
    text: "**Tea**",
  });
  expect(await answerOf("pdf-worker.js", { bytes: pdfOf(["a page"]), from: 0 })).toMatchObject({
    pages: 1,
    texts: ["a page"],
  });
}

/** Loads every file of the bundle that is not a program or a thread. @returns what could not be loaded */
export async function loadAll(folder: string): Promise<string> {
  const urls = globSync("**/*.js", { cwd: join(folder, "lib") }).filter(
    (name) => !/^(?:atp|(?:scan|pdf|html|markdown)-worker)\.js$/.test(name),
  );
  const code = `for (const name of ${JSON.stringify(urls)}) await import("./lib/" + name).catch((error) => console.log(name, error));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed, [exit]] = await Promise.all([textOf(child.stdout), once(child, "close")]);
  return exit === 0 ? printed : `${printed}ended with ${exit}`;
}
