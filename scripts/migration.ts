import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordMigrations } from "./migration-digests.ts";
import { migrationDrift } from "./migration-drift.ts";
import { databases, migrationsFolder, prismaFolder } from "./schema-engine.ts";

const usage = `usage: npm run migration NAME          write the next migration of both databases (lower case letters, digits and _)
       npm run migration -- --record  add the digests of new migrations to prisma/migrations.sha256
Write a migration, review and edit it, run the tests, then record it. Recorded migrations must not change.`;

/** Writes the next migration of both databases, from the existing migrations to the models. */
async function write(name: string): Promise<void> {
  const drift = await migrationDrift();
  const number = Math.max(0, ...(await usedNumbers())) + 1;
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

/** The used numbers of both databases: each number is one change of the models. */
async function usedNumbers(): Promise<number[]> {
  const folders = await Promise.all(databases.map((database) => readdir(migrationsFolder(database))));
  return folders.flat().map((folder) => Number.parseInt(folder, 10) || 0);
}

function record(): void {
  const added = recordMigrations(prismaFolder);
  console.error(added.length === 0 ? "every migration has a digest" : added.join("\n"));
}

const [argument = ""] = process.argv.slice(2);
if (argument === "--record") record();
else if (/^[a-z][a-z0-9_]*$/.test(argument)) await write(argument);
else {
  console.error(usage);
  process.exitCode = 2;
}
