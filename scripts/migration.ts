import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { migrationDrift } from "./migration-drift.ts";
import { databases, migrationsFolder } from "./schema-engine.ts";

/**
 * `npm run migration NAME`: writes the next migration of both databases, from what
 * the migrations make to what the models say. Read it, edit it, and run the tests.
 */
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

const [name = ""] = process.argv.slice(2);
if (/^[a-z][a-z0-9_]*$/.test(name)) await write(name);
else {
  console.error("usage: npm run migration NAME   (lower case letters, digits and _)");
  process.exitCode = 2;
}
