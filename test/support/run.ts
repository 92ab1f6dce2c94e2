import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { type PlannedPostgres, planPostgres, type ScratchPostgres } from "../../scripts/scratch-postgres.ts";
import { depth, postgresPartOf, postgresParts } from "./depth.ts";
import { installLine, isTool } from "./tools.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * The URL of the run's PostgreSQL, its database `template`, over a Unix socket; null where no server is
     * installed. The server starts with the first connection to the socket `postgresRequests`
     * (`postgresReady` of `database.ts`).
     */
    readonly postgresTemplate: string | null;
    /**
     * The path of a Unix socket that ends a connection once PostgreSQL has its template; it says why where it
     * could not start.
     */
    readonly postgresRequests: string;
    /** The part of the suites that a short run has on PostgreSQL too; null for all. */
    readonly postgresPart: number | null;
    /** A folder for files that the processes of a run share, removed with it. */
    readonly sharedFolder: string;
    /**
     * A folder for databases of SQLite, removed with the run: in memory, where the machine has room, because
     * each commit waits for its file.
     */
    readonly databaseFolder: string;
  }
}

/**
 * Vitest's global set-up: folders, and a PostgreSQL for the tests that ask for it. It makes nothing that a
 * run of one file may not need, and lists the missing tools of a run at its end.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  const databases = mkdtempSync(join(hasRoomInMemory() ? memory : tmpdir(), "databases-"));
  const postgres = await planPostgres();
  const postgresRequests = join(folder, "postgres.sock");
  const stopPostgres = postgres && startOnRequest(postgres, postgresRequests);
  const part = postgresPartOf(await commit());
  if (depth === "short" && part !== null)
    console.error(
      `Suites on PostgreSQL: part ${part} of 0 to ${postgresParts - 1}. TEST_POSTGRES=all runs each on both databases.`,
    );
  project.provide("postgresPart", part);
  project.provide("sharedFolder", folder);
  project.provide("databaseFolder", databases);
  project.provide("postgresTemplate", postgres?.socketUrl("template") ?? null);
  project.provide("postgresRequests", postgresRequests);
  return async () => {
    for (const pid of namesIn(folder, "process-")) process.kill(Number(pid), "SIGKILL");
    listMissing(namesIn(folder, "missing-"));
    await stopPostgres?.();
    for (const each of [folder, databases]) rmSync(each, { recursive: true, force: true });
  };
}

/** The hash of the commit; nothing outside of git. */
const commit = (): Promise<string> =>
  promisify(execFile)("git", ["rev-parse", "HEAD"]).then(
    ({ stdout }) => stdout,
    () => "",
  );

/**
 * Starts a server at the first connection to `socket`; returns what stops it. It does not sync its files: no
 * data must last.
 */
function startOnRequest(postgres: PlannedPostgres, socket: string): () => Promise<void> {
  let started: Promise<ScratchPostgres> | undefined;
  const requests: Server = createServer((connection) => {
    started ??= startMigrated(postgres);
    connection.on("error", () => undefined);
    started.then(
      () => connection.end(),
      (thrown: unknown) => connection.end(String(thrown)),
    );
  }).listen(socket);
  return async () => {
    requests.close();
    const server = await started?.catch(() => undefined);
    await (server ?? postgres).stop();
  };
}

async function startMigrated(postgres: PlannedPostgres): Promise<ScratchPostgres> {
  const server = await postgres.start();
  await server.createDatabase("template");
  // In its own process, which loads the store without vitest.
  await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, "migrate.ts"),
    server.socketUrl("template"),
  ]);
  return server;
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

/**
 * What workers have left as names of files: `process-ID` for each server that they share, `missing-TOOL` for
 * each tool they looked for.
 */
const namesIn = (folder: string, prefix: string): readonly string[] =>
  readdirSync(folder).flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));

function listMissing(names: readonly string[]): void {
  const missing = names.filter(isTool);
  if (missing.length === 0) return;
  const width = Math.max(...missing.map((name) => name.length));
  const lines = missing.map((name) => `  ${name.padEnd(width)}  ${installLine(name)}`);
  console.error(`\nTests that need these tools were skipped. To run them, install:\n${lines.join("\n")}\n`);
}
