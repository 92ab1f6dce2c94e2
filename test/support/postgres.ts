import type { TestProject } from "vitest/node";
import { startPostgres } from "../../scripts/scratch-postgres.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of a PostgreSQL server's database `template`, migrated; null where no server is installed. */
    readonly postgresTemplate: string | null;
  }
}

/** One PostgreSQL for a whole run, with a migrated database that tests copy. It does not sync: nothing in it is to last. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const server = await startPostgres();
  if (server === undefined) {
    project.provide("postgresTemplate", null);
    return undefined;
  }
  const template = server.url("template");
  try {
    await server.createDatabase("template");
    await (await openStore({ databaseUrl: template, clock: systemClock, random: systemRandom })).close();
  } catch (thrown) {
    await server.stop();
    throw thrown;
  }
  project.provide("postgresTemplate", template);
  return () => server.stop();
}
