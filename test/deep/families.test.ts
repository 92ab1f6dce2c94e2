import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readPage } from "../docs/page.ts";
import { depth, postgresPartOf, share } from "../support/depth.ts";
import { root } from "../support/server-process.ts";
import { commandOf, families, stepsInOrder } from "./families.ts";
import { isWholeRun, nightly, nightlyFiles } from "./nightly.ts";

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

describe("the families of deep tests", () => {
  test("are those of docs/internals/testing.md", () => {
    const listed = [...readPage("docs/internals/testing.md").matchAll(/^\| `([a-z]+)` \|/gm)].map(
      ([, name]) => name,
    );
    expect(listed).toEqual(families.map(({ name }) => name));
  });

  test("have existing files and commands, each once in a run", () => {
    const steps = stepsInOrder(families, 1);
    for (const step of steps) {
      const command = commandOf(step);
      expect(command ? command.script in scripts : existsSync(join(root, step.name)), step.name).toBe(true);
    }
    expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
    for (const family of families)
      expect(steps.filter((step) => step.family === family).length, family.name).toBeGreaterThan(0);
  });

  test("alternate, in an order that the seed decides", () => {
    const names = (seed: number) => stepsInOrder(families, seed).map(({ name }) => name);
    expect(names(7)).toEqual(names(7));
    expect(names(7)).not.toEqual(names(8));
    const first = stepsInOrder(families, 7).slice(0, families.length);
    expect(new Set(first.map(({ family }) => family))).toEqual(new Set(families));
  });
});

describe("the files of the nightly run", () => {
  test("exist, and are all steps of the command in .ci/nightly", () => {
    for (const name of nightly) expect(existsSync(join(root, name)), name).toBe(true);
    const [, named = ""] =
      /npm run test:deep -- (.+)/.exec(readFileSync(join(root, ".ci/nightly"), "utf8")) ?? [];
    const chosen = families.filter(({ name }) => named.split(" ").includes(name));
    expect(stepsInOrder(chosen, 1).map(({ name }) => name)).toEqual(
      expect.arrayContaining([...nightlyFiles()]),
    );
  });

  test.each(["run", "run --reporter=json --bail 1", "run -t text"])("are left out by vitest %s", (words) =>
    expect(isWholeRun(words.split(" "))).toBe(true));

  test.each([
    "run test/hostile",
    "run --changed",
    "run --bail 1 test/core/ids.test.ts",
    "run --changed=HEAD~1",
  ])("can be in what vitest %s runs", (words) => expect(isWholeRun(words.split(" "))).toBe(false));
});

test("at most 60 tests may take more than 3 s, each with a reason", () => {
  const slow = Object.entries(parse(readFileSync(join(root, "test/deep/slow.yml"), "utf8")));
  expect(slow.length).toBeLessThanOrEqual(60);
  for (const [name, reason] of slow) {
    expect(existsSync(join(root, `test/${name.split(" > ")[0]}.test.ts`)), name).toBe(true);
    expect(reason, name).toMatch(/^[a-z]/);
  }
});

test.skipIf(depth === "full")("the shares of a list are the whole list, each row once", () => {
  const rows = Array.from({ length: 20 }, (_, i) => i);
  const shares = [0, 1, 2].map((part) => share(rows, part, 3));
  expect(shares.flat().toSorted((a, b) => a - b)).toEqual(rows);
});

test("the hash of a commit decides which part of the suites runs on PostgreSQL, unless TEST_POSTGRES does", () => {
  expect(["00000007aaaa", "00000009aaaa", ""].map((commit) => postgresPartOf(commit))).toEqual([2, 4, 0]);
  expect(["3", "all"].map((chosen) => postgresPartOf("00000007aaaa", chosen))).toEqual([3, null]);
  for (const wrong of ["5", "-1", "x"])
    expect(() => postgresPartOf("", wrong)).toThrow(`TEST_POSTGRES: must be all or 0 to 4; got ${wrong}`);
});
