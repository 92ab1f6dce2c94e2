import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unplainWords } from "../../scripts/check/words.ts";
import { root } from "../support/server-process.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "words-"));
  const rules = { prh: { rulePaths: [join(root, "scripts/check/words.yml")] } };
  writeFileSync(join(folder, ".textlintrc.json"), JSON.stringify({ rules }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The positions of the words that the check finds in a file with this text. */
async function findIn(path: string, text: string): Promise<readonly string[]> {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  const found = await unplainWords(folder, [path]);
  return found.map((line) => line.replace(/ => .*/, ""));
}

describe("the check of words", () => {
  test.each([
    ["in Markdown", "docs/a.md", "Fine.\n\nAsk whoever knows.", "docs/a.md:3:5: whoever"],
    ["in a comment of code", "src/a.ts", "const a = 1;\n/** For nobody. */", "src/a.ts:2:9: nobody"],
    ["in a sentence of code", "src/b.ts", 'const a = "is told of it";', "src/b.ts:1:12: is told"],
    ["in a template of code", "src/c.ts", "const a = `the file goes on`;", "src/c.ts:1:21: goes on"],
    [
      "in a title of a test",
      "test/a.test.ts",
      'test.each([1])("tells the user", () => 0);',
      "test/a.test.ts:1:17: tells the",
    ],
    [
      "in a comment of the schema",
      "proto/a.proto",
      "// Given back later.\nmessage A {}",
      "proto/a.proto:1:4: Given back",
    ],
  ])("finds a word %s, with its position", async (_, path, text, found) => {
    expect(await findIn(path, text)).toEqual([found]);
  });

  test.each([
    ["code in Markdown", "docs/b.md", "Run `whoever`.\n\n```\nwhoever\n```"],
    ["code in a comment", "src/d.ts", "/** Sets `nobody`. */"],
    ["names and single words in code", "src/e.ts", 'const anew = whoever("nobody");'],
    ["SQL", "src/store/rows/a.ts", "const statement = `SELECT whoever FROM nobody`;"],
    [
      "data of tests",
      "test/b.test.ts",
      'test.each([["a name", "whoever asks"]])("%s", () => expect("of its own").toBe(1));',
    ],
  ])("passes over %s", async (_, path, text) => {
    expect(await findIn(path, text)).toEqual([]);
  });
});
