import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { startTestMode } from "../test-mode/rig.ts";
import { withFolder } from "../test-mode/temporary.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(2);
const page = readPage("docs/guides/testing.md");
/** The block of `atp record` has its tests in test/cli/record.test.ts, because it ends by Ctrl-C. */
const [start = "", begin = "", ...blocks] = blocksIn(page, "sh").filter(
  (block) => !block.includes("./atp record"),
);
/** The definition of `call`, without the example values before it. */
const call = /^call\(\).*$/m.exec(begin)?.[0] ?? "";

test("docs/guides/testing.md: every command answers as the comments after it say", async () => {
  await using server = await startTestMode();
  using folder = withFolder();
  const [fixtures = ""] = blocksIn(page, "json");
  writeFileSync(join(folder.path, "demo.json"), fixtures);
  const known = { ATP_URL: server.url, ATP_KEY: server.key, NO_COLOR: "1" };
  expect(start).toContain("serve --test");
  expect(blocks.length).toBe(4);
  for (const block of blocks) {
    // The start of another server is shown in its own tests.
    const commands = block
      .replace(/^\.\/atp serve.*$/m, "")
      .replaceAll("./atp ", `${process.execPath} ${root}/cli/main.ts `);
    const answer = await shell(`cd ${folder.path}\n${call}\n${commands}`, known);
    for (const [, expected = ""] of block.matchAll(/^# (.*)$/gm))
      expect(answer.replaceAll('":', '": '), block).toContain(expected);
  }
});

test("docs/guides/testing.md: its TypeScript prints what its comments say", async () => {
  using folder = withFolder();
  const [program = ""] = blocksIn(page, "ts");
  const file = join(folder.path, "test.ts");
  writeFileSync(
    file,
    program.replace("@agent-task-platform/client/testing", join(root, "packages/client/src/testing.ts")),
  );
  const printed = await shell(`${process.execPath} ${file}`, {
    ATP_SERVER: `${process.execPath} ${join(root, "cli/main.ts")}`,
  });
  const promised = [...program.matchAll(/^console\.log.*\/\/ (.*)$/gm)].map(([, text]) => text);
  expect(printed.trim().split("\n")).toEqual(promised);
});
