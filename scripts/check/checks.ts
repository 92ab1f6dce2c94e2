import { migrationComplaints } from "../migration-digests.ts";
import { migrationDrift } from "../migration-drift.ts";
import { imageOf, readReleases, schemaOf } from "../releases.ts";
import { prismaFolder } from "../schema-engine.ts";
import { run } from "./command.ts";

/** Something that must hold; `complaint` answers null when it does. */
interface Check {
  readonly name: string;
  complaint(): Promise<string | null>;
}

const command = (name: string, ...words: readonly string[]): Check => ({ name, complaint: () => run(words) });

/** Every check, the quick ones first. */
export const checks: readonly Check[] = [
  command("lint and order of imports (biome)", "biome", "check", "--formatter-enabled=false", "--error-on-warnings", "."),
  command("format (biome)", "biome", "format", "."),
  command("lint of the schema (buf)", "buf", "lint"),
  command("format of the schema (buf)", "buf", "format", "--diff", "--exit-code"),
  { name: "the schema keeps the wire of the last release (buf breaking)", complaint: brokenWire },
  { name: "landed migrations are as they landed", complaint: changedMigrations },
  command("docs/configuration.md says what the table says", "node", "scripts/configuration.ts"),
  { name: "golden files are as they were", complaint: rewrittenGolden },
  command("types (tsc)", "tsc", "--noEmit"),
  command("directions of imports", "vitest", "run", "--reporter=dot", "test/architecture.test.ts"),
  command("nothing unused (knip)", "knip", "--no-progress"),
  command("the lock file is whole (npm ci)", "npm", "ci", "--dry-run", "--loglevel=error"),
  { name: "migrations lead to the models", complaint: drift },
];

/** A golden file that is meant to change is staged; one that a test run rewrote is not. */
async function rewrittenGolden(): Promise<string | null> {
  const failed = await run(["git", "diff", "--stat", "--exit-code", "--", "test/golden"]);
  return failed && `${failed}\nRead the difference; stage it if it is meant.`;
}

/** Clients of the last release must be understood by this one, and understand it. */
async function brokenWire(): Promise<string | null> {
  const { latest } = readReleases();
  schemaOf(latest);
  const failed = await run(["buf", "breaking", "--against", imageOf(latest)]);
  return failed && `${failed}\nClients of ${latest.version} rely on this: add to the schema, and leave what it has (docs/upgrading.md).`;
}

async function changedMigrations(): Promise<string | null> {
  return migrationComplaints(prismaFolder).join("\n") || null;
}

async function drift(): Promise<string | null> {
  const missing = Object.entries(await migrationDrift()).filter(([, sql]) => sql.trim() !== "");
  if (missing.length === 0) return null;
  return missing.map(([database, sql]) => `${database} lacks this migration (\`npm run migration NAME\` writes it):\n${sql}`).join("\n");
}
