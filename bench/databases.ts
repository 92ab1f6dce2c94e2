import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../scripts/scratch-postgres.ts";
import type { Dialect } from "../src/store/session.ts";
import { type Installed, install } from "./installed.ts";
import { type Seeded, seed } from "./seed.ts";

/** Why a figure cannot be measured on this machine. */
export class Missing extends Error {}

/** The databases of a run; each is made once, and gone with the run. */
export interface Databases extends AsyncDisposable {
  /** One without a task. */
  empty(dialect: Dialect): Promise<Installed>;
  /**
   * One with so many tasks, and as many events in one of them; the same one each time.
   * @param each so many are of one account.
   *
   * @throws Missing where PostgreSQL is not installed.
   */
  seeded(dialect: Dialect, rows: number, each?: number): Promise<Seeded>;
}

/** Databases below a folder, and in a PostgreSQL that syncs what it commits. */
export function databasesIn(folder: string, say: (text: string) => void): Databases {
  const seeds = new Map<string, Promise<Seeded>>();
  let made = 0;
  let postgres: ReturnType<typeof startPostgres> | undefined;

  async function postgresUrl(name: string): Promise<string> {
    postgres ??= startPostgres({ fsync: true });
    const server = await postgres;
    if (!server) throw new Missing("PostgreSQL is not installed");
    await server.createDatabase(name);
    return server.url(name);
  }

  async function empty(dialect: Dialect): Promise<Installed> {
    made += 1;
    const dataDir = join(folder, `data-${made}`);
    mkdirSync(dataDir);
    const databaseUrl = dialect === "sqlite" ? `file:${join(dataDir, "platform.db")}` : await postgresUrl(`bench_${made}`);
    return install({
      DATA_DIR: dataDir,
      DATA_DIR_SHARED: "true",
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    });
  }

  async function make(dialect: Dialect, rows: number, each: number | undefined): Promise<Seeded> {
    const installed = await empty(dialect);
    const began = performance.now();
    const seeded = await seed(installed, rows, each);
    say(`seeded ${dialect} with ${rows} tasks and ${rows} events in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    return seeded;
  }

  return {
    empty,
    seeded(dialect, rows, each) {
      const name = `${dialect} ${rows} ${each ?? ""}`;
      const known = seeds.get(name) ?? make(dialect, rows, each);
      seeds.set(name, known);
      return known;
    },
    async [Symbol.asyncDispose]() {
      await (await postgres)?.stop();
    },
  };
}
