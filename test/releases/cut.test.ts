import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { frozenComplaints } from "../../scripts/migration-digests.ts";
import { type Cut, cut, Refused } from "../../scripts/release/cut.ts";
import { readReleases } from "../../scripts/releases.ts";
import { root } from "../support/server-process.ts";

const version = "9.0.0";
const page = `docs/releases/${version}.md`;
const copied = [
  "package.json",
  "package-lock.json",
  "releases.json",
  "CHANGELOG.md",
  "buf.yaml",
  "proto",
  "prisma",
  "deploy/compose",
];
copied.push(
  "packages/client/package.json",
  "packages/python/pyproject.toml",
  "docs/releases",
  "docs/reference/versions.md",
);

/** A repository with the files that a release reads and writes, and a page of the next release. */
let folder = "";
let first = "";
const path = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(path(name), "utf8");
const edit = (name: string, change: (text: string) => string): void =>
  writeFileSync(path(name), change(read(name)));
const git = (...words: readonly string[]): string =>
  execFileSync("git", words, { cwd: folder, encoding: "utf8" }).trim();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "release-"));
  for (const name of copied) cpSync(join(root, name), path(name), { recursive: true });
  symlinkSync(join(root, "node_modules"), path("node_modules"));
  writeFileSync(path(".gitignore"), "node_modules\n");
  edit("CHANGELOG.md", (text) =>
    text.replace("## [", `## [${version}] - Unreleased\n\n[Release ${version}](${page}).\n\n## [`),
  );
  writeFileSync(path(page), `# Release ${version}\n\nNot released yet. For users.\n`);
  git("init", "--quiet");
  git("config", "user.name", "Ann");
  git("config", "user.email", "ann@example.com");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Before");
  first = git("rev-parse", "HEAD");
});
beforeEach(() => {
  git("reset", "--quiet", "--hard", first);
  git("clean", "--quiet", "--force", "-d");
});
afterAll(() => rmSync(folder, { recursive: true }));

const make = (over: Partial<Cut> = {}): Promise<string> =>
  cut({
    root: folder,
    version,
    today: "2030-01-31",
    check: async () => null,
    describe: () => undefined,
    ...over,
  });

test("a release is one commit with its version in every manifest, dated pages, the image, and an entry that names the commit before", async () => {
  const old: string = JSON.parse(read("package.json")).version;
  const commit = await make();
  expect([git("rev-parse", "HEAD"), git("rev-parse", "HEAD~1"), git("status", "--porcelain")]).toEqual([
    commit,
    first,
    "",
  ]);
  const lock = JSON.parse(read("package-lock.json"));
  const versions = [
    JSON.parse(read("package.json")),
    lock,
    lock.packages[""],
    JSON.parse(read("packages/client/package.json")),
  ];
  expect(versions.map((each) => each.version)).toEqual([version, version, version, version]);
  expect(read("packages/python/pyproject.toml")).toContain(`\nversion = "${version}"\n`);
  expect(read("deploy/compose/compose.yaml")).toContain(`agent-task-platform:${version}`);
  expect(read("docs/reference/versions.md")).toContain(`[Release ${version}](../releases/${version}.md)`);
  expect(read("CHANGELOG.md")).toContain(`\n## [${version}] - 2030-01-31\n`);
  expect(read(page)).toBe(`# Release ${version}\n\n31 January 2030. For users.\n`);
  expect(read(`docs/releases/${old}.md`)).toContain(`# Release ${old}\n`);
  const { latest, all } = readReleases(folder);
  expect(latest).toMatchObject({
    version,
    date: "2030-01-31",
    commit: first,
    wire: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  execFileSync("buf", ["breaking", "--against", `proto/releases/${version}.binpb.gz`], { cwd: folder });
  expect(frozenComplaints(path("prisma"), all)).toEqual([]);
});

test("from the release on, its migrations and their digests cannot change together; later ones are added", async () => {
  await make();
  appendFileSync(
    path("prisma/migrations.sha256"),
    `${"0".repeat(64)}  sqlite/migrations/9999_next/migration.sql\n`,
  );
  expect(frozenComplaints(path("prisma"), readReleases(folder).all)).toEqual([]);
  edit("prisma/migrations.sha256", (text) => `${"0".repeat(64)}${text.slice(64)}`);
  expect(frozenComplaints(path("prisma"), readReleases(folder).all)).toContainEqual(
    expect.stringMatching(/differs from that of release 9\.0\.0: restore it/),
  );
});

test.each<{
  readonly of: string;
  readonly says: RegExp;
  readonly change?: () => void;
  readonly over?: Partial<Cut>;
}>([
  {
    of: "a released version",
    says: /0\.1\.0 is not a version after .*: give MAJOR\.MINOR\.PATCH/,
    over: { version: "0.1.0" },
  },
  {
    of: "no version",
    says: /next is not a version after .*: give MAJOR\.MINOR\.PATCH/,
    over: { version: "next" },
  },
  {
    of: "a dirty tree",
    says: /the tree has changes: commit or remove them first\n.*new/,
    change: () => writeFileSync(path("new"), ""),
  },
  {
    of: "a failing check",
    says: /`npm run check` must pass first:\nFAIL {2}types/,
    over: { check: async () => "FAIL  types" },
  },
  {
    of: "a breaking schema",
    says: /clients of .* would break: only add to the schema\nproto\/user\/v2\/user_service\.proto/,
    change: () =>
      edit("proto/user/v2/user_service.proto", (text) => text.replace(/^ {2}string \w+ = 1.*$/m, "")),
  },
  {
    of: "a changed migration",
    says: /0001_first\/migration\.sql has changed, but a recorded migration must not change: restore it/,
    change: () => appendFileSync(path("prisma/sqlite/migrations/0001_first/migration.sql"), "-- more\n"),
  },
  {
    of: "no page",
    says: /docs\/releases\/9\.0\.0\.md is missing: write what users can do now/,
    change: () => rmSync(path(page)),
  },
  {
    of: "no heading",
    says: /CHANGELOG\.md has no "## \[9\.0\.0\] - Unreleased": write it/,
    change: () => edit("CHANGELOG.md", (text) => text.replace("] - Unreleased", "] - soon")),
  },
  {
    of: "a page of 1,501 words",
    says: /9\.0\.0\.md: 1\d+ words; a page there has at most 1500: move details/,
    change: () => appendFileSync(path(page), "word\n".repeat(1_495)),
  },
  {
    of: "a line of 161 characters",
    says: /9\.0\.0\.md: line 4 has more than 160 characters: break it/,
    change: () => appendFileSync(path(page), "x".repeat(161)),
  },
])("$of is refused with what to do, and nothing is written", async ({
  says,
  change = () => undefined,
  over,
}) => {
  change();
  const changed = git("status", "--porcelain");
  const isCommitted = changed !== "" && !changed.includes("?? ");
  if (isCommitted) git("commit", "--quiet", "--all", "--message", "A change");
  const before = [git("rev-parse", "HEAD"), git("status", "--porcelain")];
  const refusal = await make(over).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Refused);
  expect(refusal).toMatchObject({ message: expect.stringMatching(says) });
  expect([git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual(before);
});

test("an error while files are written leaves the tree as it was", async () => {
  const describe = () => {
    throw new Error("no disk");
  };
  await expect(make({ describe })).rejects.toThrow("no disk");
  expect([git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual([first, ""]);
});
