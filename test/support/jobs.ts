import type { TestDatabase } from "./database.ts";
import { directly } from "./direct.ts";

const tables = {
  sqlite: "SELECT key FROM job ORDER BY key",
  postgresql: "SELECT singleton_key AS key FROM pgboss.job WHERE state <= 'active' ORDER BY key",
} as const;

/** The keys of all jobs that are not done, whether they wait or are in hand, as the database has them. */
export const pendingJobs = async (database: TestDatabase): Promise<unknown[]> =>
  (await directly(database, tables[database.kind])).map(({ key }) => key);
