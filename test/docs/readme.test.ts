import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { pythonWith } from "../support/tools.ts";
import { blocksIn, readPage, shell } from "./page.ts";
import { type SharedServer, sharedServer } from "./shared-server.ts";

const run = promisify(execFile);
const readme = readPage("README.md");

/** A page's first block of code in a language that contains this text. */
const block = (page: string, language: string, holding: string): string =>
  blocksIn(page, language).find((text) => text.includes(holding)) ?? "";

/** Runs lines of the README, against this server and with its key. */
const here = (server: SharedServer, lines: string): Promise<string> =>
  shell(lines.replaceAll("localhost:8080", server.url).replace(/^ATP_KEY=.*$/m, `ATP_KEY=${server.key}`));

describe("the README", () => {
  test("creates, reads and stops a first task with its lines of curl", async () => {
    const server = await sharedServer();
    const [key = "", create = "", ...rest] = block(readme, "sh", "task.create")
      .split("\n")
      .filter((line) => line !== "");
    const created = JSON.parse(await here(server, `${key}\n${create}`));
    expect(created).toMatchObject({ ok: true, task_title: "What is 12 * 4?" });
    for (const line of rest.filter((text) => text.startsWith("curl"))) {
      const answer = JSON.parse(
        await here(server, `${key}\n${line.replace("THE_TASK_ID", created.task_id)}`),
      );
      expect(answer).toMatchObject({ ok: true });
    }
  });

  test("creates tasks through v1 and the Responses API with its lines of curl", async () => {
    const server = await sharedServer();
    const [task = "", response = ""] = block(readme, "sh", "/v1/tasks").split("\n");
    const titled = { task_title: "What is 12 * 4?" };
    expect(JSON.parse(await here(server, `ATP_KEY=\n${task}`))).toMatchObject({
      task_id: expect.any(String),
      ...titled,
    });
    expect(JSON.parse(await here(server, `ATP_KEY=\n${response}`))).toMatchObject({
      object: "response",
      metadata: titled,
    });
  });

  test("creates a task with its line of TypeScript", async () => {
    const server = await sharedServer();
    const line = block(readme, "ts", "createClient").replace('"http://localhost:8080"', "ATP_URL");
    const program = `import { createClient } from "${root}/packages/client/src/index.ts"; const { ATP_KEY, ATP_URL } = process.env; ${line}`;
    const env = { ...process.env, ATP_KEY: server.key, ATP_URL: server.url };
    expect(
      (await run(process.execPath, ["--input-type=module-typescript", "-e", program], { env })).stdout,
    ).toContain("48");
  });

  test.skipIf(lacks("python-httpx"))("creates a task with its line of Python", async () => {
    const server = await sharedServer();
    const line = block(readme, "python", "Client").replace('"http://localhost:8080"', "ATP_URL");
    const program = `import os\nfrom agent_task_platform import Client\nATP_KEY, ATP_URL = os.environ["ATP_KEY"], os.environ["ATP_URL"]\n${line}`;
    const env = {
      ...process.env,
      PYTHONPATH: join(root, "packages/python/src"),
      ATP_KEY: server.key,
      ATP_URL: server.url,
    };
    expect(
      (await run(pythonWith("httpx, cryptography") ?? "python3", ["-c", program], { env })).stdout,
    ).toContain("48");
  });

  test("and docs/internals/dependencies.md name every dependency and why", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const listed = readPage("docs/internals/dependencies.md");
    for (const name of Object.keys({ ...dependencies, ...devDependencies }))
      expect(listed).toContain(`\`${name}\``);
  });
});
