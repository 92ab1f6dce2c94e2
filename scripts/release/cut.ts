import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { lengthComplaints } from "../check/pages.ts";
import { freezeMigrations, frozenComplaints, migrationComplaints } from "../migration-digests.ts";
import { imageOf, type Release, readReleases } from "../releases.ts";
import { withVersion } from "./manifests.ts";

/** A release that cannot be made: what is wrong, and what to do, one line each. */
export class Refused extends Error {
  constructor(lines: readonly string[]) {
    super(lines.map((line) => `release: ${line}`).join("\n"));
  }
}

/** A release, made from a clean checkout. */
export interface Cut {
  /** The folder of the checkout. */
  readonly root: string;
  /** Such as `0.3.0`; later than every release. */
  readonly version: string;
  /** `YYYY-MM-DD` */
  readonly today: string;
  /** Runs all checks of the project. Null: they pass; otherwise their output. */
  readonly check: () => Promise<string | null>;
  /** Writes the descriptions of the API in `api/`, which have the version. */
  readonly describe: () => void;
}

/**
 * Makes the commit of a release: the version in every manifest, the dated pages, the image of the schema, and
 * the entry in `releases.json`, which freezes the migrations. The entry names the commit before it. It pushes
 * and tags nothing.
 *
 * @returns the full hash of the commit
 * @throws Refused before anything is written
 */
export async function cut({ root, version, today, check, describe }: Cut): Promise<string> {
  const { all, latest } = readReleases(root);
  const prisma = join(root, "prisma");
  const migrations = [...migrationComplaints(prisma), ...frozenComplaints(prisma, all)];
  const refused = [
    ...versionComplaints(root, version, latest),
    ...pageComplaints(root, version),
    ...migrations,
  ];
  if (refused.length > 0) throw new Refused(refused);
  const broken = buf(root, "breaking", "--against", imageOf(latest));
  if (broken !== null)
    throw new Refused([`clients of ${latest.version} would break: only add to the schema\n${broken}`]);
  const failed = await check();
  if (failed !== null) throw new Refused([`a check fails; \`npm run check\` must pass first:\n${failed}`]);
  const commit = git(root, "rev-parse", "HEAD");
  try {
    write(root, version, today, commit, describe);
    git(root, "add", "--all");
    git(root, "commit", "--quiet", "--message", `release: cut ${version}`);
  } catch (error) {
    // The tree was clean.
    git(root, "reset", "--quiet", "--hard", commit);
    rmSync(join(root, imageOf({ version })), { force: true });
    throw error;
  }
  return git(root, "rev-parse", "HEAD");
}

const git = (root: string, ...words: readonly string[]): string =>
  execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
const pageOf = (version: string): string => `docs/releases/${version}.md`;
const unreleased = (version: string): string => `## [${version}] - Unreleased\n`;
const partsOf = (version: string): readonly number[] => version.split(".").map(Number);

/** Whether a version is later than another one. */
function isLater(version: string, other: string): boolean {
  const [a, b] = [partsOf(version), partsOf(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at !== -1 && (a[at] ?? 0) > (b[at] ?? 0);
}

function versionComplaints(root: string, version: string, latest: Release): readonly string[] {
  const changed = git(root, "status", "--porcelain");
  return [
    ...(/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version) && isLater(version, latest.version)
      ? []
      : [`${version} is not a version after ${latest.version}: give MAJOR.MINOR.PATCH`]),
    ...(changed === "" ? [] : [`the tree has changes: commit or remove them first\n${changed}`]),
  ];
}

function pageComplaints(root: string, version: string): readonly string[] {
  const heading = readFileSync(join(root, "CHANGELOG.md"), "utf8").includes(unreleased(version));
  const pages = ["CHANGELOG.md", pageOf(version)].filter((path) => existsSync(join(root, path)));
  return [
    ...(heading
      ? []
      : [`CHANGELOG.md has no "${unreleased(version).trim()}": write it, with a link to ${pageOf(version)}`]),
    ...(pages.length === 2
      ? []
      : [`${pageOf(version)} is missing: write what users can do now, and what they must do`]),
    ...pages.flatMap((path) =>
      lengthComplaints(path, readFileSync(join(root, path), "utf8")).map(
        (complaint) => `${path}: ${complaint}`,
      ),
    ),
  ];
}

/** Runs buf. Null: it succeeds; otherwise its output. */
function buf(root: string, ...words: readonly string[]): string | null {
  const PATH = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  const { status, stdout, stderr } = spawnSync("buf", words, {
    cwd: root,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  return status === 0 ? null : `${stdout}${stderr}`.trim();
}

/** Writes the files of the release. `commit` is the one before. */
function write(root: string, version: string, today: string, commit: string, describe: () => void): void {
  const edit = (path: string, change: (text: string) => string): void =>
    writeFileSync(join(root, path), change(readFileSync(join(root, path), "utf8")));
  const now: string = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
  if (now !== version) {
    for (const path of git(root, "ls-files").split("\n")) withVersion(root, path, now, version);
    describe();
  }
  edit("CHANGELOG.md", (text) => text.replace(unreleased(version), `## [${version}] - ${today}\n`));
  const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(
    new Date(today),
  );
  edit(pageOf(version), (text) => text.replace("Not released yet.", `${date}.`));
  const image = imageOf({ version });
  const failed = buf(root, "build", "--exclude-source-info", "-o", image);
  if (failed !== null) throw new Error(`buf build: ${failed}`);
  const wire = createHash("sha256")
    .update(readFileSync(join(root, image)))
    .digest("hex");
  const entry = { version, date: today, commit, wire, migrations: freezeMigrations(join(root, "prisma")) };
  edit("releases.json", (text) => `${JSON.stringify([...JSON.parse(text), entry], null, 2)}\n`);
}
