import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { root, type ServerProcess, startServer } from "../support/server-process.ts";

const run = promisify(execFile);
const readme = readFileSync(join(root, "README.md"), "utf8");

/** The first block of code in a language that holds this. */
function block(language: string, holding: string): string {
  const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  return blocks.find(([, name, text]) => name === language && text?.includes(holding))?.[2] ?? "";
}

/** Runs lines of the README in a shell, against this server and with its key. */
async function shell(server: ServerProcess, lines: string): Promise<string> {
  const here = lines.replaceAll("localhost:8080", server.url).replace(/^KEY=.*$/m, `KEY=${server.key}`);
  return (await run("bash", ["-ec", here])).stdout;
}

describe("the README", () => {
  test("creates, reads and stops a first task with its lines of curl", async () => {
    await using server = await startServer();
    const [key = "", create = "", ...rest] = block("sh", "task.create")
      .split("\n")
      .filter((line) => line !== "");
    const created = JSON.parse(await shell(server, `${key}\n${create}`));
    expect(created).toMatchObject({ ok: true, task_title: "What is 12 * 4?" });
    for (const line of rest.filter((text) => text.startsWith("curl"))) {
      const answer = JSON.parse(await shell(server, `${key}\n${line.replace("THE_TASK_ID", created.task_id)}`));
      expect(answer).toMatchObject({ ok: true });
    }
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
