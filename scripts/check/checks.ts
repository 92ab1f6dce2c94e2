import { spawnSync } from "node:child_process";
import { frozenComplaints, migrationComplaints } from "../migration-digests.ts";
import { migrationDrift } from "../migration-drift.ts";
import { imageOf, readReleases, schemaOf } from "../releases.ts";
import { prismaFolder } from "../schema-engine.ts";
import { strayAliases } from "./aliases.ts";
import { ownClocks } from "./clocks.ts";
import { root, runTool } from "./command.ts";
import { faultyComments } from "./comments.ts";
import { pageComplaints } from "./pages.ts";
import { spreadLiterals } from "./spreads.ts";
import { unbuiltMethods } from "./unbuilt.ts";
import { unplainWords } from "./words.ts";

/** A check; `complaint` returns null if it passes. */
interface Check {
  readonly name: string;
  complaint(): Promise<string | null>;
}

const command = (name: string, ...args: readonly string[]): Check => ({
  name,
  complaint: () => runTool(args),
});

/** All checks, fast ones first. */
export const checks: readonly Check[] = [
  command(
    "lint and order of imports (biome)",
    "biome",
    "check",
    "--formatter-enabled=false",
    "--error-on-warnings",
    ".",
  ),
  command("format (biome)", "biome", "format", "."),
  command("lint of the schema (buf)", "buf", "lint"),
  command("format of the schema (buf)", "buf", "format", "--diff", "--exit-code"),
  { name: "the schema is compatible with the last release (buf breaking)", complaint: brokenWire },
  { name: "recorded migrations are unchanged", complaint: changedMigrations },
  command("generated files that git has match the schema", "node", "scripts/generated.ts"),
  { name: "no file has conflict markers", complaint: conflictMarkers },
  {
    name: "prose has no words of scripts/check/words.yml",
    complaint: async () => (await unplainWords(root)).join("\n") || null,
  },
  {
    name: "pages keep to their names and lengths",
    complaint: async () => pageComplaints(root).join("\n") || null,
  },
  { name: "golden files are unchanged", complaint: rewrittenGolden },
  command("types (tsc)", "tsc", "--noEmit"),
  command("types of the console (tsc)", "tsc", "--noEmit", "-p", "console/tsconfig.json"),
  // Together: the build installs the packages whose types the other reads.
  command(
    "the site of docs/ builds, no link in it is dead, and its types hold",
    "node",
    "site/build.ts",
    "--out",
    ".setup/site",
    "--types",
  ),
  { name: "only core/clock.ts reads the time", complaint: async () => ownClocks(root).join("\n") || null },
  {
    name: "doc comments describe a declaration and existing errors",
    complaint: async () => faultyComments(root).join("\n") || null,
  },
  {
    name: "destructurings keep the names of members",
    complaint: async () => strayAliases(root).join("\n") || null,
  },
  { name: "no spread of a literal", complaint: async () => spreadLiterals(root).join("\n") || null },
  { name: "every operation is implemented", complaint: async () => unbuiltMethods(root).join("\n") || null },
  command("directions of imports", "vitest", "run", "--reporter=dot", "test/architecture.test.ts"),
  command("nothing unused (knip)", "knip", "--no-progress"),
  command("the lock file is complete (npm ci)", "npm", "ci", "--dry-run", "--loglevel=error"),
  command("each mutation of the suite has its place", "node", "test/mutations/main.ts", "--places"),
  { name: "migrations produce the models", complaint: drift },
];

/** Intended changes of golden files are staged; changes by a test run are not. */
async function rewrittenGolden(): Promise<string | null> {
  const failed = await runTool(["git", "diff", "--stat", "--exit-code", "--", "test/golden"]);
  return failed && `${failed}\nRead the difference; stage it if it is intended.`;
}

/** The lines that an unfinished merge leaves in tracked files. `git grep` ends with 1 when it finds none. */
async function conflictMarkers(): Promise<string | null> {
  const { status, stdout, stderr } = spawnSync("git", ["grep", "-nIE", "^(<{7}|>{7}) "], {
    cwd: root,
    encoding: "utf8",
  });
  return status === 1 ? null : `${stdout}${stderr}` || `git grep ended with ${status}`;
}

/** This release must be compatible with clients of the last release. */
async function brokenWire(): Promise<string | null> {
  const { latest } = readReleases();
  schemaOf(latest);
  const failed = await runTool(["buf", "breaking", "--against", imageOf(latest)]);
  return (
    failed &&
    `${failed}\nClients of ${latest.version} rely on this: only add to the schema (docs/operate/upgrading.md).`
  );
}

async function changedMigrations(): Promise<string | null> {
  return (
    [...migrationComplaints(prismaFolder), ...frozenComplaints(prismaFolder, readReleases().all)].join(
      "\n",
    ) || null
  );
}

async function drift(): Promise<string | null> {
  const missing = Object.entries(await migrationDrift()).filter(([, sql]) => sql.trim() !== "");
  if (missing.length === 0) return null;
  return missing
    .map(
      ([database, sql]) => `${database} lacks this migration (\`npm run migration NAME\` writes it):\n${sql}`,
    )
    .join("\n");
}
