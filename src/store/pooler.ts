import { randomInt } from "node:crypto";
import { Client } from "pg";
import { Failure } from "../core/failure.ts";
import { databaseLocation } from "./backend.ts";
import { StatementFailure } from "./statements.ts";

/**
 * What answers at an address: PostgreSQL itself, or a pooler that gives a connection to each session, or to
 * each transaction.
 */
export type Pooling = "none" | "session" | "transaction";

export type AddressSetting = "DATABASE_URL" | "DATABASE_DIRECT_URL";

/**
 * Further sessions that look for a shared connection: one more than the processes of a pooler on one port, as
 * far as it is sure.
 */
const othersMax = 4;
const rounds = 5;
const connectMs = 5000;

/**
 * Finds a pooler. A pooler answers with another process id when a session begins, PostgreSQL with that of its
 * backend. A pooler that gives connections to transactions shows itself by a session whose backend changes,
 * or by two sessions with one backend.
 *
 * @throws StatementFailure when the database cannot be reached or refuses.
 */
export async function findPooling(databaseUrl: string): Promise<Pooling> {
  const clients: Client[] = [];
  const open = async () => {
    const client = await connect(databaseUrl);
    clients.push(client);
    return client;
  };
  try {
    const first = await open();
    if ((await backendOf(first)) === Reflect.get(first, "processID")) return "none";
    const seen = new Map<Client, number>();
    for (let i = 0; i < rounds; i += 1) {
      for (const client of i > 0 && i <= othersMax ? [...clients, await open()] : clients)
        for (const backend of [await backendOf(client), await backendOf(client)]) {
          const isShared = [...seen].some(([other, id]) =>
            other === client ? id !== backend : id === backend,
          );
          if (isShared) return "transaction";
          seen.set(client, backend);
        }
    }
    return "session";
  } catch (thrown) {
    throw failureOf(thrown);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/**
 * Checks that sessions at this address have separate connections, which notifications and locks need.
 *
 * @throws Failure `failed_precondition` for a pooler that gives connections to transactions; StatementFailure
 * as `findPooling`.
 */
export async function checkSessions(databaseUrl: string, setting: AddressSetting): Promise<void> {
  if ((await findPooling(databaseUrl)) === "transaction")
    throw new Failure("failed_precondition", sharedSessions(databaseUrl, setting));
}

/** The sentence about a pooler where sessions are needed. */
export const sharedSessions = (databaseUrl: string, setting: AddressSetting): string =>
  `${setting}: ${databaseLocation(databaseUrl)} is behind a pooler that gives a connection to each transaction, and notifications need a session: ${
    setting === "DATABASE_URL"
      ? "set DATABASE_DIRECT_URL to the address of PostgreSQL itself, or let the pooler pool sessions"
      : "set it to the address of PostgreSQL itself"
  }`;

/**
 * Checks that a pooler leads to the database at the direct address: a lock that one holds is seen by the
 * other.
 *
 * @throws Failure `failed_precondition` when it does not; StatementFailure when the pooler cannot be reached
 * or refuses.
 */
export async function checkSameDatabase(poolerUrl: string, databaseUrl: string): Promise<void> {
  const key = randomInt(2 ** 47);
  if (await inTransaction(databaseUrl, key, () => inTransaction(poolerUrl, key, async (isFree) => isFree)))
    throw new Failure(
      "failed_precondition",
      `DATABASE_URL leads to another database than DATABASE_DIRECT_URL, which is ${databaseLocation(databaseUrl)}: set both to the same database`,
    );
}

/** Runs `work` in a transaction that tries to lock a key. */
async function inTransaction(
  databaseUrl: string,
  key: number,
  work: (isFree: boolean) => Promise<boolean>,
): Promise<boolean> {
  const client = await connect(databaseUrl);
  try {
    await client.query("BEGIN");
    const { rows } = await client.query<{ free: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${key}) AS free`,
    );
    return await work(rows[0]?.free === true);
  } catch (thrown) {
    throw failureOf(thrown);
  } finally {
    await client.end();
  }
}

const failureOf = (thrown: unknown): StatementFailure =>
  thrown instanceof StatementFailure ? thrown : new StatementFailure(thrown);

async function connect(databaseUrl: string): Promise<Client> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (thrown) {
    await client.end();
    throw new StatementFailure(thrown);
  }
  return client;
}

async function backendOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return Number(rows[0]?.pid);
}
