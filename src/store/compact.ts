import { setTimeout as delay } from "node:timers/promises";
import { causeText, Failure } from "../core/failure.ts";
import { pathOf } from "./backend.ts";
import { connectSqlite, driverOf, incrementalVacuum, retryWhileBusy } from "./sqlite-adapter.ts";

const patienceMs = 60_000;
const pauseMs = 20;

/**
 * Removes deleted rows from the files of a database. SQLite writes its file again, while changes of servers
 * wait; PostgreSQL frees the rows while they run.
 *
 * @throws Failure `unavailable` when the database is in use for too long
 */
export const compact = (databaseUrl: string): Promise<void> =>
  (databaseUrl.startsWith("file:") ? compactSqlite(pathOf(databaseUrl)) : compactPostgres(databaseUrl)).catch(
    (thrown: unknown) => {
      throw new Failure(
        "unavailable",
        `deleted rows are still in the files of the database; run it again: ${causeText(thrown)}`,
      );
    },
  );

async function compactSqlite(path: string): Promise<void> {
  const connection = await connectSqlite(path);
  const driver = driverOf(connection);
  const run = (text: string) => retryWhileBusy(async () => void driver.exec(text), patienceMs);
  try {
    // The search index keeps deleted words until it is merged.
    await run("INSERT INTO task_words (task_words) VALUES ('optimize')");
    await run(`${incrementalVacuum} VACUUM;`);
    for (
      let waited = 0;
      !isEmptied(driver.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all());
      waited += pauseMs
    ) {
      if (waited >= patienceMs) throw new Error("readers use the log of the database");
      await delay(pauseMs);
    }
  } finally {
    await connection.dispose();
  }
}

/** Whether the log was written to the file: a reader of an older state prevents it. */
const isEmptied = ([row]: readonly unknown[]): boolean =>
  typeof row === "object" && row !== null && "busy" in row && Number(row.busy) === 0;

async function compactPostgres(databaseUrl: string): Promise<void> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("VACUUM");
  } finally {
    await client.end();
  }
}
