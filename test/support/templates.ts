import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../../scripts/scratch-postgres.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of a PostgreSQL server's database `template`, migrated, over a Unix socket; null where no server is installed. */
    readonly postgresTemplate: string | null;
    /** The path of an SQLite file, migrated. */
    readonly sqliteTemplate: string;
    /** A folder for files that the processes of a run share, removed with it. */
    readonly sharedFolder: string;
    /** A folder for databases of SQLite, removed with the run: in memory, where the machine has room, because each commit waits for its file. */
    readonly databaseFolder: string;
  }
}

/** Creates a migrated database of each kind for tests to copy. A run has one PostgreSQL, without fsync: no data must last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  const databases = mkdtempSync(join(hasRoomInMemory() ? memory : tmpdir(), "databases-"));
  const file = join(folder, "platform.db");
  const server = await startPostgres();
  const stop = async () => {
    for (const pid of sharedProcesses(folder)) process.kill(pid, "SIGKILL");
    await server?.stop();
    for (const each of [folder, databases]) rmSync(each, { recursive: true, force: true });
  };
  try {
    await migrated(`file:${file}`);
    await server?.createDatabase("template");
    if (server) await migrated(server.socketUrl("template"));
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  project.provide("sharedFolder", folder);
  project.provide("databaseFolder", databases);
  project.provide("sqliteTemplate", file);
  project.provide("postgresTemplate", server?.socketUrl("template") ?? null);
  return stop;
}

/** A file system in memory. A container may have a small one. */
const memory = "/dev/shm";
const roomNeeded = 2 * 1024 ** 3;

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= roomNeeded;
  } catch {
    return false;
  }
}

/** The servers that workers share: each has left a file with its process id. */
const sharedProcesses = (folder: string): readonly number[] =>
  readdirSync(folder).flatMap((name) => (name.startsWith("process-") ? [Number(name.slice("process-".length))] : []));

async function migrated(databaseUrl: string): Promise<void> {
  await (await openStore({ databaseUrl, clock: systemClock, random: systemRandom })).close();
}
