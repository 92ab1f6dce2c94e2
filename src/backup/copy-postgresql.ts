import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "pg";
import { causeText, Failure } from "../core/failure.ts";
import { databaseLocation } from "../store/backend.ts";
import { incompleteQuery, incompleteSchema, openLock } from "../store/postgresql-marks.ts";
import { blobPage, type CopiedBlob, type DatabaseCopier, type Environment, inPages } from "./copy.ts";

/**
 * Copies PostgreSQL by pg_dump, with the blobs of the same snapshot. pg_restore restores in one transaction.
 */
export const postgresCopier = (environment: Environment): DatabaseCopier => ({
  async copy(databaseUrl, path) {
    const client = await connect(databaseUrl);
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      const [exported] = (await client.query<{ id: string }>("SELECT pg_export_snapshot() AS id")).rows;
      await run(environment, "pg_dump", databaseUrl, [
        "--format=custom",
        `--file=${path}`,
        `--snapshot=${exported?.id ?? ""}`,
      ]);
      const [latest] = (
        await client.query<{ name: string }>("SELECT max(migration_name) AS name FROM _prisma_migrations")
      ).rows;
      return {
        migration: latest?.name ?? "",
        blobs: () => inPages((after) => blobsAfter(client, after)),
        [Symbol.asyncDispose]: () => client.end(),
      };
    } catch (thrown) {
      await client.end();
      throw thrown;
    }
  },

  async checkEmpty(databaseUrl) {
    if (await connected(databaseUrl, hasTables))
      throw new Failure(
        "failed_precondition",
        `${databaseLocation(databaseUrl)} has tables: restore into an empty database`,
      );
  },

  look: (databaseUrl) =>
    connected(databaseUrl, async (client) => {
      if (await isMarked(client)) return "begun";
      return (await hasTables(client)) ? "used" : "empty";
    }),

  begin,
  finish,

  setting: (databaseUrl, key) =>
    connected(databaseUrl, async (client) => {
      const { rows: tables } = await client.query(
        "SELECT 1 FROM pg_tables WHERE schemaname = 'public' AND tablename = 'setting'",
      );
      if (tables.length === 0) return null;
      const { rows } = await client.query<{ value: string }>("SELECT value FROM setting WHERE key = $1", [
        key,
      ]);
      return rows[0]?.value ?? null;
    }),

  isUnused: (databaseUrl) =>
    connected(databaseUrl, async (client) => {
      const { rows } = await client.query<{ free: boolean }>(
        `SELECT pg_try_advisory_lock(${openLock}) AS free`,
      );
      return rows[0]?.free === true;
    }),

  async restore(databaseUrl, path, prepare) {
    await begin(databaseUrl);
    await run(environment, "pg_restore", databaseUrl, [
      "--no-owner",
      "--no-privileges",
      "--exit-on-error",
      "--single-transaction",
      path,
    ]);
    await prepare(databaseUrl);
    await finish(databaseUrl);
  },
});

async function begin(databaseUrl: string): Promise<string> {
  await connected(
    databaseUrl,
    async (client) => void (await client.query(`CREATE SCHEMA IF NOT EXISTS ${incompleteSchema}`)),
  );
  return databaseUrl;
}

const finish = (databaseUrl: string): Promise<void> =>
  connected(databaseUrl, async (client) => void (await client.query(`DROP SCHEMA ${incompleteSchema}`)));

async function hasTables(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'pgboss') LIMIT 1",
  );
  return rows.length > 0;
}

async function isMarked(client: Client): Promise<boolean> {
  return (await client.query(incompleteQuery)).rows.length > 0;
}

/** Works on a separate connection. */
async function connected<T>(databaseUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(databaseUrl);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function blobsAfter(client: Client, after: string): Promise<readonly CopiedBlob[]> {
  const text = `SELECT id, bytes FROM blob WHERE state = 'kept' AND id > $1 ORDER BY id LIMIT ${blobPage}`;
  const { rows } = await client.query<{ id: string; bytes: string }>(text, [after]);
  return rows.map(({ id, bytes }) => ({ id, bytes: Number(bytes) }));
}

async function connect(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect().catch((thrown: unknown) => {
    throw new Failure(
      "unavailable",
      `cannot connect to ${databaseLocation(databaseUrl)}: ${causeText(thrown)}`,
    );
  });
  return client;
}

/**
 * Runs a tool of PostgreSQL, whose messages go to standard error. The password is not in its arguments, which
 * other users can read.
 */
async function run(
  environment: Environment,
  tool: string,
  databaseUrl: string,
  args: readonly string[],
): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const env = { ...environment, ...(password !== "" && { PGPASSWORD: password }) };
  const child = spawn(tool, [`--dbname=${url.href}`, ...args], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit").catch((thrown: unknown) => {
    throw new Failure(
      "failed_precondition",
      `${tool} cannot be started; install PostgreSQL's client programs: ${causeText(thrown)}`,
    );
  });
  if (code !== 0)
    throw new Failure(
      "failed_precondition",
      `${tool} failed for ${databaseLocation(databaseUrl)}; its message is above`,
    );
}
