import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../scripts/scratch-postgres.ts";
import type { Dialect } from "../src/store/statements.ts";
import { type Installed, install } from "./installed.ts";
import { type Seeded, seed } from "./seed.ts";

/** Something is missing on this machine, so a figure cannot be measured. */
export class MissingDependency extends Error {}

/** The databases of a run; each is created once and removed with the run. */
export interface Databases extends AsyncDisposable {
  /** Creates a database without tasks. */
  empty(dialect: Dialect): Promise<Installed>;
  /**
   * Returns a database with `rows` tasks, and as many events in one of them; the same database each time.
   * @param each the number of tasks per account.
   *
   * @throws Missing if PostgreSQL is not installed.
   */
  seeded(dialect: Dialect, rows: number, each?: number): Promise<Seeded>;
}

/** Databases in a folder, and in a PostgreSQL server that syncs its commits. */
export function databasesIn(folder: string, print: (text: string) => void): Databases {
  const seeds = new Map<string, Promise<Seeded>>();
  let count = 0;
  let postgres: ReturnType<typeof startPostgres> | undefined;

  async function postgresUrl(name: string): Promise<string> {
    postgres ??= startPostgres({ fsync: true });
    const server = await postgres;
    if (!server) throw new MissingDependency("PostgreSQL is not installed");
    await server.createDatabase(name);
    return server.url(name);
  }

  async function empty(dialect: Dialect): Promise<Installed> {
    count += 1;
    const dataDir = join(folder, `data-${count}`);
    mkdirSync(dataDir);
    const databaseUrl =
      dialect === "sqlite" ? `file:${join(dataDir, "platform.db")}` : await postgresUrl(`bench_${count}`);
    return install({
      DATA_DIR: dataDir,
      DATA_DIR_SHARED: "true",
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    });
  }

  async function make(dialect: Dialect, rows: number, each: number | undefined): Promise<Seeded> {
    const installed = await empty(dialect);
    const startedAt = performance.now();
    const seeded = await seed(installed, rows, each);
    print(
      `seeded ${dialect} with ${rows} tasks and ${rows} events in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    );
    return seeded;
  }

  return {
    empty,
    seeded(dialect, rows, each) {
      const name = `${dialect} ${rows} ${each ?? ""}`;
      const database = seeds.get(name) ?? make(dialect, rows, each);
      seeds.set(name, database);
      return database;
    },
    async [Symbol.asyncDispose]() {
      await (await postgres)?.stop();
    },
  };
}
