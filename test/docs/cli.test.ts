import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command, RouteMap } from "@stricli/core";
import { expect, test } from "vitest";
import { application } from "../../cli/app.ts";
import type { CliContext } from "../../cli/frame/context.ts";
import { runWith } from "../cli/rig.ts";
import { freePort } from "../support/free-port.ts";
import { root } from "../support/server-process.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

test("docs/guides/cli.md: every command answers as the comment after it says", async () => {
  const port = `${await freePort()}`;
  await using service = await openService({ env: { PORT: port, BASE_URL: `http://127.0.0.1:${port}` } });
  const { key } = await service.person();
  const folder = mkdtempSync(join(tmpdir(), "cli-guide-"));
  symlinkSync(join(root, "atp"), join(folder, "atp"));
  const known = { BASE: service.url, KEY: key, TASK: "", HOME: folder, XDG_CONFIG_HOME: join(folder, "config"), NO_COLOR: "1" };
  const commands = blocksIn(readPage("docs/guides/cli.md"), "sh").flatMap((block) => block.split(/\n(?=[^#\n])/));
  for (const command of commands) {
    const [, expected = ""] = /^# (.*)$/m.exec(command) ?? [];
    const answer = await shell(`cd ${folder}\n${command}`, known);
    expect(answer, command).toContain(expected);
    known.TASK = /"task_id":"(\w+)"/.exec(answer)?.[1] ?? known.TASK;
  }
  expect(commands.length).toBeGreaterThan(15);
  for (const shellName of ["bash", "zsh", "fish"])
    expect(readFileSync(join(folder, shellName === "zsh" ? "_atp" : `atp.${shellName}`), "utf8")).toContain("__complete");
  await shell(`bash -n ${join(folder, "atp.bash")}`);
  rmSync(folder, { recursive: true });
});

/** The words of every command below a route. */
const commandsBelow = (
  target: Command<CliContext> | RouteMap<CliContext>,
  words: readonly string[] = [],
): readonly (readonly string[])[] =>
  "getAllEntries" in target
    ? target.getAllEntries().flatMap((entry) => commandsBelow(entry.target, [...words, entry.name.original]))
    : [words];

test("docs/reference/commands.md has the help of every command", async () => {
  const sections: string[] = [];
  for (const words of commandsBelow(application.root)) {
    const { code, out } = await runWith("/nowhere", { url: "http://127.0.0.1:9" }, [...words, "--help"]);
    expect(code).toBe(0);
    sections.push(`## atp ${words.join(" ")}\n\n\`\`\`text\n${out.trimEnd()}\n\`\`\`\n`);
  }
  const head =
    "# Commands\n\nFor users of the [command line](../guides/cli.md): every command of `atp`, as its `--help` shows it. A test writes this page.\n";
  const page = [head, ...sections].join("\n");
  const path = join(root, "docs/reference/commands.md");
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(path, page);
  expect(readFileSync(path, "utf8")).toBe(page);
});
