import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { shell } from "../docs/page.ts";
import { root } from "../support/server-process.ts";
import { testFolder } from "./rig.ts";

const run = promisify(execFile);

test("./atp of a checkout that is not set up says what to run, and installs nothing", async () => {
  const folder = testFolder();
  copyFileSync(join(root, "atp"), join(folder, "atp"));
  const failed = await run(join(folder, "atp"), ["--version"]).catch((error) => error);
  expect({ code: failed.code, stderr: failed.stderr }).toEqual({
    code: 1,
    stderr: `atp: this checkout is not set up. Run once, with Node.js 20 or newer: (cd ${folder} && node scripts/setup.mjs)\n`,
  });
});

test.each([
  { words: ["task", "create", "A text", "--help"], says: "Create a task\n" },
  { words: ["task", "-h"], says: "Create, follow and decide tasks\n" },
  { words: ["serve", "--help"], says: "Start a server\n" },
  { words: ["--help"], says: "The program of the Agent Task Platform\n" },
])("./atp $words of a checkout that is not set up writes the help, and installs nothing", async ({
  words,
  says,
}) => {
  const folder = testFolder();
  copyFileSync(join(root, "atp"), join(folder, "atp"));
  mkdirSync(join(folder, "docs/reference"), { recursive: true });
  copyFileSync(join(root, "docs/reference/commands.md"), join(folder, "docs/reference/commands.md"));
  mkdirSync(join(folder, "cli/server"), { recursive: true });
  writeFileSync(join(folder, "cli/server/serve.ts"), "");
  const { stdout, stderr } = await run(join(folder, "atp"), words);
  expect(stdout.startsWith(says), stdout).toBe(true);
  expect({ stderr, files: readdirSync(folder).toSorted() }).toEqual({
    stderr: "",
    files: ["atp", "cli", "docs"],
  });
  expect(stdout).toBe((await run(join(root, "atp"), words)).stdout);
});

test("./atp has the exit code of the command, and completes in bash", async () => {
  const failed = await run(join(root, "atp"), ["task", "list", "--wrong"]).catch((error) => error);
  expect({ code: failed.code, stderr: failed.stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("--wrong"),
  });
  const words = await shell(`
    source <(${join(root, "atp")} completion bash)
    COMP_WORDS=(${join(root, "atp")} task c) COMP_CWORD=2
    _atp
    echo "\${COMPREPLY[*]}"`);
  expect(words.trim().split(/\s+/)).toEqual(["create", "confirm"]);
});
