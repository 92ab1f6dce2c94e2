import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { root, type ServerProcess, startServer } from "../support/server-process.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const run = promisify(execFile);
const readme = readPage("README.md");

/** The first block of code in a language that holds this. */
const block = (language: string, holding: string): string => blocksIn(readme, language).find((text) => text.includes(holding)) ?? "";

/** Runs lines of the README, against this server and with its key. */
const here = (server: ServerProcess, lines: string): Promise<string> =>
  shell(lines.replaceAll("localhost:8080", server.url).replace(/^KEY=.*$/m, `KEY=${server.key}`));

describe("the README", () => {
  test("creates, reads and stops a first task with its lines of curl", async () => {
    await using server = await startServer();
    const [key = "", create = "", ...rest] = block("sh", "task.create")
      .split("\n")
      .filter((line) => line !== "");
    const created = JSON.parse(await here(server, `${key}\n${create}`));
    expect(created).toMatchObject({ ok: true, task_title: "What is 12 * 4?" });
    for (const line of rest.filter((text) => text.startsWith("curl"))) {
      const answer = JSON.parse(await here(server, `${key}\n${line.replace("THE_TASK_ID", created.task_id)}`));
      expect(answer).toMatchObject({ ok: true });
    }
  });

  test("creates tasks through v1 and the Responses API with its lines of curl", async () => {
    await using server = await startServer();
    const [task = "", response = ""] = block("sh", "/v1/tasks").split("\n");
    const titled = { task_title: "What is 12 * 4?" };
    expect(JSON.parse(await here(server, `KEY=\n${task}`))).toMatchObject({ task_id: expect.any(String), ...titled });
    expect(JSON.parse(await here(server, `KEY=\n${response}`))).toMatchObject({ object: "response", metadata: titled });
  });

  test("creates and reads a task with its lines of TypeScript", async () => {
    await using server = await startServer();
    const file = join(root, `.readme-${process.pid}.ts`);
    writeFileSync(file, block("ts", "createClient").replace("http://127.0.0.1:8080", server.url));
    try {
      const { stdout } = await run(process.execPath, [file], { cwd: root, env: { ...process.env, KEY: server.key } });
      expect(stdout).toContain("What is 12 * 4?");
    } finally {
      rmSync(file);
    }
  });

  test("names every dependency and why", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const listed = readme.slice(readme.indexOf("## Dependencies"));
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) expect(listed).toContain(`\`${name}\``);
  });
});
