import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { depth } from "../support/depth.ts";
import { root } from "../support/server-process.ts";

const linesMax = 60;
const goldens = ["test/operations.test.ts", "test/client/names.test.ts"];
let clone = "";
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "merge-"));
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
const run = (file: string, ...words: readonly string[]): string =>
  execFileSync(file, words, {
    cwd: clone,
    encoding: "utf8",
    env: { ...process.env, PATH: path, UPDATE_GOLDEN: "1" },
    stdio: "pipe",
  });

/** An operation with three members in its request, one in its answer. */
function addOperation(noun: string, verb: string): void {
  const capital = (word: string): string => `${word[0]?.toUpperCase()}${word.slice(1)}`;
  const name = `${capital(verb)}${capital(noun)}`;
  const file = join(clone, `proto/${noun}/v2/${noun}_service.proto`);
  const text = readFileSync(file, "utf8");
  const option = /option \(taskplatform\.options\.v1\.operation\) = \{[\s\S]*?\n {4}\};/
    .exec(text)?.[0]
    .replace(/name: ".*"/, `name: "${noun}.${verb}"`);
  const method = `\n  // Changes what the caller names.\n  rpc ${name}(${name}Request) returns (${name}Response) {\n    ${option}\n  }\n}\n`;
  const fields = ["id", "unit", "note"]
    .map((field, at) => `  // The ${field}.\n  string ${field} = ${at + 1};\n`)
    .join("");
  const messages = `\n// Names what is changed.\nmessage ${name}Request {\n${fields}}\n\n// What is left.\nmessage ${name}Response {\n  // In grams.\n  int64 grams = 1;\n}\n`;
  writeFileSync(file, text.replace(/\n\}\n/, method) + messages);
}

/** Writes the generated files that git has, as a contributor does. */
function generate(): void {
  run("node", "scripts/setup.mjs", "--code");
  run("node", "scripts/generated.ts", "--write");
  run("vitest", "run", ...goldens);
}

/** Set-up and goldens of three trees take a minute. */
test.skipIf(depth !== "full")(
  "a new operation changes at most 60 generated lines of git, and two branches with one each merge without a conflict",
  { timeout: 600_000 },
  () => {
    run("git", "clone", "--quiet", root, ".");
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    run("git", "config", "user.name", "Ann");
    run("git", "config", "user.email", "ann@example.com");
    run("git", "switch", "--quiet", "--create", "trunk");
    for (const [noun, verb] of [
      ["project", "weigh"],
      ["webhook", "copy"],
    ] as const) {
      run("git", "switch", "--quiet", "--create", noun, "trunk");
      addOperation(noun, verb);
      generate();
      const counts = run("git", "diff", "--numstat", "--", "api", "test/golden", "docs", "packages")
        .trim()
        .split("\n");
      const added = counts.reduce((sum, line) => sum + Number(line.split("\t")[0]), 0);
      console.info(`${noun}.${verb}: ${counts.join(", ")}`);
      expect(added).toBeGreaterThan(10);
      expect(added).toBeLessThanOrEqual(linesMax);
      run("git", "commit", "--quiet", "--all", "--message", `${noun}: ${verb}`);
    }
    run("git", "merge", "--quiet", "--no-edit", "project");
    generate();
    expect(run("git", "status", "--porcelain", "--untracked-files=no")).toBe("");
  },
);
