import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readReleases } from "../../scripts/releases.ts";

const jsonOf = (path: string) => JSON.parse(readFileSync(path, "utf8"));
const { version } = jsonOf("package.json");
const headings = [...readFileSync("CHANGELOG.md", "utf8").matchAll(/^## (.*)$/gm)].map(
  ([, heading]) => heading,
);

test("the lock file has the version of package.json", () => {
  const lock = jsonOf("package-lock.json");
  expect([lock.version, lock.packages[""].version]).toEqual([version, version]);
});

test("the TypeScript client has the version of the platform", () => {
  expect(jsonOf("packages/client/package.json").version).toBe(version);
});

test("the changelog has every release with its date, the newest first, and before them at most the next one", () => {
  const released = readReleases().all.map((release) => `[${release.version}] - ${release.date}`);
  const next = headings.slice(0, -released.length);
  expect(headings).toEqual([...next, ...released.toReversed()]);
  expect(next.map((heading) => heading?.replace(/^\[\d+\.\d+\.\d+\] - /, ""))).toEqual(
    next.length === 0 ? [] : ["Unreleased"],
  );
});

test("the Python client has the version of the platform", () => {
  expect(readFileSync("packages/python/pyproject.toml", "utf8")).toContain(`\nversion = "${version}"\n`);
});

test("a release names its commit in full", () => {
  for (const { commit } of readReleases().all) expect(commit).toMatch(/^[0-9a-f]{40}$/);
});
