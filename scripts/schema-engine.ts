import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import type { MigrationList, SchemaContainer } from "@prisma/schema-engine-wasm";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";

/** Prisma's schema engine over one database, as WebAssembly; it does not use the network. */
export type Engine = bindings.SchemaEngine;

/** Names of the databases, and of their folders under `prisma/`. */
export const databases = ["sqlite", "postgresql"] as const;
export type Database = (typeof databases)[number];

/** The folder of models and migrations. */
export const prismaFolder = join(import.meta.dirname, "..", "prisma");

/**
 * Tables that triggers keep, and those of the search index. Prisma's models do not describe them: their
 * migrations are written by hand.
 */
const otherTables: Readonly<Record<Database, readonly string[]>> = {
  sqlite: [
    "running_task",
    "task_text",
    ...["", "_config", "_data", "_docsize", "_idx"].map((part) => `task_words${part}`),
  ],
  postgresql: ["public.running_task", "public.task_text"],
};

/** What the engine leaves out when it compares a database with the models. */
export const filtersOf = (database: Database) => ({
  externalTables: [...otherTables[database]],
  externalEnums: [],
});

/** The folder of a database's migrations. */
export const migrationsFolder = (database: Database): string => join(prismaFolder, database, "migrations");

/** Neither TypeScript's library nor Node's types declare this part of the runtime. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let started: Promise<void> | undefined;

/** Opens the engine on a database through a driver adapter; the engine creates shadow databases there. */
export async function openEngine(
  database: Database,
  adapter: SqlMigrationAwareDriverAdapterFactory,
): Promise<Engine> {
  started ??= start();
  await started;
  const datamodels = (await models(database)).map(({ path, content }): [string, string] => [path, content]);
  return bindings.SchemaEngine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(adapter));
}

/** The SQL that migrates from a database's migrations to its models; empty if they agree. */
export async function diffToModels(database: Database, engine: Engine): Promise<string> {
  const from = { tag: "migrations" as const, ...(await migrationList(database)) };
  const to = { tag: "schemaDatamodel" as const, files: await models(database), configDir: "." };
  const { stdout } = await engine.diff({
    from,
    to,
    script: true,
    exitCode: null,
    filters: filtersOf(database),
  });
  const sql = stdout ?? "";
  return /^\s*(--[^\n]*\s*)*$/.test(sql) ? "" : sql;
}

/** A database's migrations in the engine's format. */
export async function migrationList(database: Database): Promise<MigrationList> {
  const baseDir = migrationsFolder(database);
  const entries = await readdir(baseDir, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
  const path = "migration.sql";
  const migrationDirectories = await Promise.all(
    names.map(async (name) => ({
      path: name,
      migrationFile: {
        path,
        content: { tag: "ok" as const, value: await readFile(join(baseDir, name, path), "utf8") },
      },
    })),
  );
  const lockfile = { path: "migration_lock.toml", content: `provider = "${database}"\n` };
  return { baseDir, lockfile, shadowDbInitScript: "", migrationDirectories };
}

async function models(database: Database): Promise<SchemaContainer[]> {
  const modelFiles = (await readdir(join(prismaFolder, "models")))
    .toSorted()
    .map((name) => join(prismaFolder, "models", name));
  const files = [join(prismaFolder, database, "schema.prisma"), ...modelFiles];
  return Promise.all(files.map(async (path) => ({ path, content: await readFile(path, "utf8") })));
}

/** Loads the module explicitly, because Node does not support the WebAssembly import of its wrapper. */
async function start(): Promise<void> {
  const wrapper = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm");
  const bytes = await readFile(join(wrapper, "..", "schema_engine_bg.wasm"));
  const { instance } = await WebAssembly.instantiate(bytes, { "./schema_engine_bg.js": { ...bindings } });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as () => void)();
}
