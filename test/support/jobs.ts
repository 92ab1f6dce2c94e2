import type { TestDatabase } from "./database.ts";
import { runDirectly } from "./direct.ts";

const tables = {
  sqlite: "SELECT key FROM job ORDER BY key",
  postgresql: "SELECT singleton_key AS key FROM pgboss.job WHERE state <= 'active' ORDER BY key",
} as const;

/** The keys of all unfinished jobs in the database, waiting or running. */
export const pendingJobs = async (database: TestDatabase): Promise<unknown[]> =>
  (await runDirectly(database, tables[database.kind])).map(({ key }) => key);
