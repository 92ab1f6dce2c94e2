import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordMigrations } from "./migration-digests.ts";
import { migrationDrift } from "./migration-drift.ts";
import { databases, migrationsFolder, prismaFolder } from "./schema-engine.ts";

const usage = `usage: npm run migration NAME          write the next migration of both databases (lower case letters, digits and _)
       npm run migration -- --record  add the digests of new migrations to prisma/migrations.sha256
Write one, read it, edit it, run the tests, then record it: from then on it never changes.`;

/** Writes the next migration of both databases, from what the migrations make to what the models say. */
async function write(name: string): Promise<void> {
  const drift = await migrationDrift();
  const number = Math.max(0, ...(await numbers())) + 1;
  for (const database of databases) {
    if (drift[database] === "") {
      console.error(`${database}: the migrations agree with the models`);
      continue;
    }
    const folder = join(migrationsFolder(database), `${String(number).padStart(4, "0")}_${name}`);
    await mkdir(folder);
    await writeFile(join(folder, "migration.sql"), drift[database]);
    console.error(`${database}: ${folder}`);
  }
}

/** Numbers that are taken, in either database: a number means one change of the models. */
async function numbers(): Promise<number[]> {
  const folders = await Promise.all(databases.map((database) => readdir(migrationsFolder(database))));
  return folders.flat().map((folder) => Number.parseInt(folder, 10) || 0);
}

function record(): void {
  const added = recordMigrations(prismaFolder);
  console.error(added.length === 0 ? "every migration has a digest" : added.join("\n"));
}

const [word = ""] = process.argv.slice(2);
if (word === "--record") record();
else if (/^[a-z][a-z0-9_]*$/.test(word)) await write(word);
else {
  console.error(usage);
  process.exitCode = 2;
}
