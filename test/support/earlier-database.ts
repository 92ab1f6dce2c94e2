import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DatabaseKind, databaseUrl, runOn, type TestDatabase } from "./database.ts";
import { root } from "./server-process.ts";

/** The first migration after release 0.1.0. */
export const after010 = "0012_node_address";

/** A database as the releases before a migration left it. */
export async function migratedBefore(kind: DatabaseKind, name: string): Promise<TestDatabase> {
  const database = await databaseUrl(kind, { empty: true });
  const folder = join(root, "prisma", kind, "migrations");
  const earlier = readdirSync(folder).filter((each) => each < name);
  const scripts = earlier.map((each) => readFileSync(join(folder, each, "migration.sql"), "utf8"));
  const records = earlier.map((each, index) => {
    const checksum = createHash("sha256")
      .update(scripts[index] ?? "")
      .digest("hex");
    return `INSERT INTO _prisma_migrations VALUES ('${each}', '${checksum}', CURRENT_TIMESTAMP, '${each}', NULL, NULL, CURRENT_TIMESTAMP, 1);`;
  });
  const book = `CREATE TABLE _prisma_migrations (id TEXT PRIMARY KEY, checksum TEXT NOT NULL, finished_at TIMESTAMP, migration_name TEXT NOT NULL,
    logs TEXT, rolled_back_at TIMESTAMP, started_at TIMESTAMP NOT NULL, applied_steps_count INTEGER NOT NULL);`;
  await runOn(database.url, [book, ...scripts, ...records].join("\n"));
  return database;
}
