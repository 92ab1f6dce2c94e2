import { describablePostgres, describableSqlite } from "./describable.ts";
import { type Database, diffToModels, openEngine } from "./schema-engine.ts";
import { startPostgres } from "./scratch-postgres.ts";

/**
 * The SQL that migrates from the migrations to the models, for each database; empty if
 * they agree. The migrations run on temporary databases.
 *
 * @param postgresUrl a server on which databases may be created; if omitted, a
 * temporary server is started.
 */
export async function migrationDrift(postgresUrl?: string): Promise<Record<Database, string>> {
  const sqlite = await diffToModels("sqlite", await openEngine("sqlite", describableSqlite()));
  const postgresql =
    postgresUrl === undefined ? await onScratch(postgresDrift) : await postgresDrift(postgresUrl);
  return { sqlite, postgresql };
}

async function postgresDrift(url: string): Promise<string> {
  return diffToModels("postgresql", await openEngine("postgresql", describablePostgres(url)));
}

async function onScratch<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = await startPostgres();
  if (server === undefined)
    throw new Error("PostgreSQL is needed to read its migrations, and is not installed");
  try {
    return await work(server.url("postgres"));
  } finally {
    await server.stop();
  }
}
