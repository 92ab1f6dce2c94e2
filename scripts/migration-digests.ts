import { createHash } from "node:crypto";
import { appendFileSync, existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { databases } from "./schema-engine.ts";

/** The file of digests in the folder `prisma`, in the format of `sha256sum --check`; lines are only added. */
const digestFile = "migrations.sha256";

/** The command that adds missing digests. */
const recordCommand = "npm run migration -- --record";

/**
 * The problems of the migrations in the folder `prisma`, one sentence each; empty if every
 * migration has a digest and matches it.
 */
export function migrationComplaints(prisma: string): readonly string[] {
  const recorded = recordedDigests(prisma);
  const now = digestsOf(prisma);
  const changed = [...recorded].filter(([path, digest]) => now.get(path) !== digest);
  const unrecorded = [...now.keys()].filter((path) => !recorded.has(path));
  return [
    ...changed.map(
      ([path]) =>
        `${path} ${now.has(path) ? "has changed" : "is missing"}, but a recorded migration must not change: ${restoreAdvice(path)}`,
    ),
    ...unrecorded.map(
      (path) => `${path} has no digest in prisma/${digestFile}: \`${recordCommand}\` adds it`,
    ),
  ];
}

/** The digests of a release's migrations: the first lines of the file. */
export interface FrozenMigrations {
  readonly count: number;
  /** SHA-256 of these lines, in hex. */
  readonly sha256: string;
}

const firstLines = (prisma: string, count: number): string =>
  readFileSync(join(prisma, digestFile), "utf8")
    .split("\n")
    .slice(0, count)
    .map((line) => `${line}\n`)
    .join("");

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** Freezes all recorded migrations for a release. */
export function freezeMigrations(prisma: string): FrozenMigrations {
  const count = recordedDigests(prisma).size;
  return { count, sha256: sha256(firstLines(prisma, count)) };
}

/**
 * The releases whose lines have changed, one sentence each. A changed line would hide a changed migration.
 */
export const frozenComplaints = (
  prisma: string,
  releases: readonly { readonly version: string; readonly migrations?: FrozenMigrations }[],
): readonly string[] =>
  releases.flatMap(({ version, migrations }) =>
    migrations === undefined || sha256(firstLines(prisma, migrations.count)) === migrations.sha256
      ? []
      : [
          `prisma/${digestFile} differs from that of release ${version}: restore it (\`git log -- prisma/${digestFile}\` shows the commits)`,
        ],
  );

const restoreAdvice = (path: string): string =>
  `restore it (\`git log -- prisma/${path}\` shows the commits) and write a new migration for your change (\`npm run migration NAME\`)`;

/**
 * Adds a digest for each migration in `prisma` that has none; other digests stay unchanged. @returns the
 * added paths.
 */
export function recordMigrations(prisma: string): readonly string[] {
  const recorded = recordedDigests(prisma);
  const added = [...digestsOf(prisma)].filter(([path]) => !recorded.has(path));
  appendFileSync(join(prisma, digestFile), added.map(([path, digest]) => `${digest}  ${path}\n`).join(""));
  return added.map(([path]) => path);
}

/** The recorded digests by path. */
function recordedDigests(prisma: string): ReadonlyMap<string, string> {
  const file = join(prisma, digestFile);
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return new Map(lines.filter((line) => line !== "").map((line) => [line.slice(66), line.slice(0, 64)]));
}

/** The digests of all migration files, by path in `prisma`: `sqlite/migrations/0001_first/migration.sql`. */
function digestsOf(prisma: string): ReadonlyMap<string, string> {
  const paths = databases.flatMap((database) =>
    globSync(`${database}/migrations/*/*`, { cwd: prisma }).toSorted(),
  );
  return new Map(paths.map((path) => [path, sha256(readFileSync(join(prisma, path)))]));
}
