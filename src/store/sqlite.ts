import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../core/clock.ts";
import { PrismaClient } from "../gen/prisma/sqlite/client.ts";
import { type Backend, type BackendOptions, clientOptions } from "./backend.ts";
import { memoryCounters } from "./counter.ts";
import { createGate } from "./gate.ts";
import { migrate } from "./migrate.ts";
import type { Client } from "./session.ts";
import { connectSqlite, lockFile, readerFactory, whileBusy, writerFactory } from "./sqlite-adapter.ts";

/** A write waits so long for a script that writes beside the server. */
const patienceMs = 5000;
/** A start waits so long for another that migrates. */
const startPatienceMs = 60_000;

/**
 * SQLite: one writing connection behind a gate of its own, and one that only reads.
 * Prisma's adapter runs all on one connection and locks none but interactive
 * transactions, so that a single write would share the fate of whoever's transaction
 * is open.
 */
export async function openSqlite({ databaseUrl, clock, traced }: BackendOptions): Promise<Backend<Client>> {
  const path = databaseUrl.replace(/^file:/, "");
  mkdirSync(dirname(path), { recursive: true });
  // Processes that start at once go one after the other; the lock ends with its process.
  const { release } = await whileBusy(() => lockFile(`${path}-start`), clock, startPatienceMs);
  try {
    await prepareFile(path, clock);
    const writer = new PrismaClient({ adapter: traced(writerFactory(path, clock, patienceMs)), ...clientOptions });
    const reader = new PrismaClient({ adapter: traced(readerFactory(path)), ...clientOptions });
    await Promise.all([writer.$connect(), reader.$connect()]);
    return { dialect: "sqlite", writer, reader, gate: createGate(), counters: memoryCounters(), release };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

/** Under the lock: the journal's mode, which stays with the file, and the migrations. */
async function prepareFile(path: string, clock: Clock): Promise<void> {
  const connection = await connectSqlite(path, "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF;");
  try {
    // A server that runs already writes without asking for that lock.
    await whileBusy(() => connection.executeScript("BEGIN IMMEDIATE"), clock, startPatienceMs);
    await migrate("sqlite", {
      query: async (sql) => (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows,
      script: (sql) => connection.executeScript(sql),
    });
    await connection.executeScript("COMMIT");
  } finally {
    // What is not committed is rolled back with the connection.
    await connection.dispose();
  }
}
