import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { root } from "../support/server-process.ts";
import { blocksIn, readPage, shell } from "./page.ts";
import { type SharedServer, sharedServer } from "./shared-server.ts";

const run = promisify(execFile);
const readme = readPage("README.md");
const firstTask = readPage("docs/guides/first-task.md");

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
      const answer = JSON.parse(await here(server, `${key}\n${line.replace("THE_TASK_ID", created.task_id)}`));
      expect(answer).toMatchObject({ ok: true });
    }
  });

  test("creates tasks through v1 and the Responses API with its lines of curl", async () => {
    const server = await sharedServer();
    const [task = "", response = ""] = block(readme, "sh", "/v1/tasks").split("\n");
    const titled = { task_title: "What is 12 * 4?" };
    expect(JSON.parse(await here(server, `ATP_KEY=\n${task}`))).toMatchObject({ task_id: expect.any(String), ...titled });
    expect(JSON.parse(await here(server, `ATP_KEY=\n${response}`))).toMatchObject({ object: "response", metadata: titled });
  });

  test("links to a guide that creates and reads a task with its lines of TypeScript", async () => {
    const server = await sharedServer();
    const file = join(root, `.readme-${process.pid}.ts`);
    writeFileSync(file, block(firstTask, "ts", "createClient").replace("http://127.0.0.1:8080", server.url));
    try {
      const { stdout } = await run(process.execPath, [file], { cwd: root, env: { ...process.env, ATP_KEY: server.key } });
      expect(stdout).toContain("What is 12 * 4?");
    } finally {
      rmSync(file);
    }
  });

  test("and docs/internals/dependencies.md name every dependency and why", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const listed = readPage("docs/internals/dependencies.md");
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) expect(listed).toContain(`\`${name}\``);
  });
});
