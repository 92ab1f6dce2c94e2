import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { lacks } from "./needs.ts";

export const databaseKinds = ["sqlite", "postgresql"] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** The set-ups of a suite that `describeOnEach` runs: one process on SQLite, three on PostgreSQL. */
export const nodesOf = (kind: DatabaseKind): number => (kind === "sqlite" ? 1 : 3);

/** The database that others are copied from; undefined where PostgreSQL is not installed, which `CI=true` does not allow. */
export const postgresTemplate: string | undefined = lacks("postgresql") ? undefined : (inject("postgresTemplate") ?? undefined);

/** A database of a test's own, gone with it. */
export interface TestDatabase extends AsyncDisposable {
  readonly kind: DatabaseKind;
  /** As `DATABASE_URL` takes it. */
  readonly url: string;
}

/** A store on a database of its own. */
export interface TestStore extends TestDatabase {
  readonly store: Store;
}

/** Runs a suite on both databases; without PostgreSQL its half is skipped. */
export function describeOnEach(name: string, suite: (kind: DatabaseKind) => void): void {
  for (const kind of databaseKinds) {
    describe.skipIf(kind === "postgresql" && postgresTemplate === undefined)(`${name} (${kind})`, () => suite(kind));
  }
}

/** An open store on a fresh database; what is not given is the system's. */
export async function openTestStore(kind: DatabaseKind, options: Partial<Omit<StoreOptions, "databaseUrl">> = {}): Promise<TestStore> {
  const database = await emptyDatabase(kind);
  const store = await openStore({ clock: systemClock, random: systemRandom, ...options, databaseUrl: database.url });
  return {
    ...database,
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A store that the tests of a suite share: for those that keep to rows of their own. */
export function storeOfSuite(kind: DatabaseKind, options?: Parameters<typeof openTestStore>[1]): Pick<TestStore, "store" | "url"> {
  let opened: TestStore | undefined;
  const shared = (): TestStore => {
    if (opened === undefined) throw new Error("the suite has not begun");
    return opened;
  };
  beforeAll(async () => {
    opened = await openTestStore(kind, options);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());
  return {
    get store() {
      return shared().store;
    },
    get url() {
      return shared().url;
    },
  };
}

/**
 * The URL of a fresh database, for tests that start processes. PostgreSQL's is migrated
 * unless it is to be empty; SQLite's file is not there yet.
 */
export async function databaseUrl(kind: DatabaseKind, { empty = false }: { readonly empty?: boolean } = {}): Promise<TestDatabase> {
  return kind === "sqlite" ? freshFile() : freshCopy(empty ? "template0" : "template");
}

async function freshFile(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "test-store-"));
  return {
    kind: "sqlite",
    url: `file:${join(folder, "platform.db")}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function freshCopy(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await runOn(urlOf("postgres"), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const drop = () => runOn(urlOf("postgres"), `DROP DATABASE ${name} WITH (FORCE)`);
  return { kind: "postgresql", url: urlOf(name), [Symbol.asyncDispose]: drop };
}

function urlOf(name: string): string {
  if (postgresTemplate === undefined) throw new Error("PostgreSQL is not installed");
  return new URL(`/${name}`, postgresTemplate).href;
}

/** Databases that tests of this file are done with, empty again: a copy takes ten times as long. */
const emptied: TestDatabase[] = [];

/** A database whose tables are as the migrations left them; nobody else was or is on it. */
async function emptyDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  if (kind === "sqlite") return freshFile();
  const database = emptied.pop() ?? (await freshCopy("template"));
  return { ...database, [Symbol.asyncDispose]: () => putBack(database) };
}

async function putBack(database: TestDatabase): Promise<void> {
  const others =
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
  // Whoever is still on it may write when the next test is.
  if ((await rowsIn(database.url, others)).length > 0) return database[Symbol.asyncDispose]();
  const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'";
  const names = (await rowsIn(database.url, tables)).map(({ tablename }) => tablename);
  await runOn(database.url, `TRUNCATE pgboss.job, ${names.join(", ")}`);
  emptied.push(database);
}

/** Runs one statement on a connection of its own. */
export async function runOn(url: string, statement: string): Promise<void> {
  const adapter = await connect(url);
  await adapter.executeScript(statement).finally(() => adapter.dispose());
}

/** What a query finds, read past the store. */
export async function rowsIn(url: string, query: string): Promise<Record<string, unknown>[]> {
  const adapter = await connect(url);
  const { columnNames, rows } = await adapter.queryRaw({ sql: query, args: [], argTypes: [] }).finally(() => adapter.dispose());
  return rows.map((row) => Object.fromEntries(columnNames.map((name, index) => [name, row[index]])));
}

const connect = (url: string): Promise<SqlDriverAdapter> =>
  url.startsWith("file:") ? new PrismaBetterSqlite3({ url }).connect() : new PrismaPg({ connectionString: url, max: 1 }).connect();
