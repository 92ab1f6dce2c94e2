import { createHash } from "node:crypto";
import { appendFileSync, existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { databases } from "./schema-engine.ts";

/** The file of digests in the folder `prisma`, in the form that `sha256sum --check` reads; lines are only ever added. */
const digestFile = "migrations.sha256";

/** The command that adds what the file lacks. */
const recordCommand = "npm run migration -- --record";

/**
 * What is wrong with the migrations below `prisma` (a folder), one sentence each; empty when every
 * migration is as its digest says and every migration has a digest.
 */
export function migrationComplaints(prisma: string): readonly string[] {
  const recorded = recordedDigests(prisma);
  const now = digestsOf(prisma);
  const broken = [...recorded].filter(([path, digest]) => now.get(path) !== digest);
  const unrecorded = [...now.keys()].filter((path) => !recorded.has(path));
  return [
    ...broken.map(
      ([path]) => `${path} ${now.has(path) ? "has changed" : "is gone"}, but a landed migration never changes: ${wayBack(path)}`,
    ),
    ...unrecorded.map((path) => `${path} has no digest in prisma/${digestFile}: \`${recordCommand}\` adds it`),
  ];
}

const wayBack = (path: string): string =>
  `restore it as it landed (\`git log -- prisma/${path}\` shows the commits) and write what you need as a new one (\`npm run migration NAME\`)`;

/** Adds a digest for each migration below `prisma` that has none, and leaves all others as they are. @returns the paths added. */
export function recordMigrations(prisma: string): readonly string[] {
  const recorded = recordedDigests(prisma);
  const added = [...digestsOf(prisma)].filter(([path]) => !recorded.has(path));
  appendFileSync(join(prisma, digestFile), added.map(([path, digest]) => `${digest}  ${path}\n`).join(""));
  return added.map(([path]) => path);
}

/** Digests by path, as the file has them. */
function recordedDigests(prisma: string): ReadonlyMap<string, string> {
  const file = join(prisma, digestFile);
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return new Map(lines.filter((line) => line !== "").map((line) => [line.slice(66), line.slice(0, 64)]));
}

/** Digests of the files of all migrations, by their path below `prisma`: `sqlite/migrations/0001_first/migration.sql`. */
function digestsOf(prisma: string): ReadonlyMap<string, string> {
  const paths = databases.flatMap((database) => globSync(`${database}/migrations/*/*`, { cwd: prisma }).toSorted());
  return new Map(
    paths.map((path) => [
      path,
      createHash("sha256")
        .update(readFileSync(join(prisma, path)))
        .digest("hex"),
    ]),
  );
}
