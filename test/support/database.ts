import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, rename, rm } from "node:fs/promises";
import { connect as connectTo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { pathOf } from "../../src/store/backend.ts";
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import { depth, postgresParts, share } from "./depth.ts";
import { migrated } from "./migrate.ts";
import { lacks } from "./needs.ts";

export const databaseKinds = ["sqlite", "postgresql"] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** For suites that test several processes on a shared database: one on SQLite, three on PostgreSQL. */
export const nodesOf = (kind: DatabaseKind): number => (kind === "sqlite" ? 1 : 3);

/**
 * The database that others are copied from, after `postgresReady`; undefined where PostgreSQL is not
 * installed, which `CI=true` does not allow.
 */
export const postgresTemplate: string | undefined = lacks("postgresql")
  ? undefined
  : (inject("postgresTemplate") ?? undefined);

let ready: Promise<void> | undefined;

/**
 * Resolves once the run's PostgreSQL takes connections and has its template: the first test that needs it
 * starts it (`run.ts`).
 */
export function postgresReady(): Promise<void> {
  ready ??= text(connectTo(inject("postgresRequests"))).then((fault) => {
    if (fault !== "") throw new Error(fault);
  });
  return ready;
}

/** A database of a single test, removed with it. */
export interface TestDatabase extends AsyncDisposable {
  readonly kind: DatabaseKind;
  /** In the form of `DATABASE_URL`. */
  readonly url: string;
}

/** A store on a separate database. */
export interface TestStore extends TestDatabase {
  readonly store: Store;
}

type Suite = (kind: DatabaseKind) => void;

const lettersOf = (name: string): number =>
  [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);

/**
 * Whether a short run has a suite on PostgreSQL too: one part of the suites, by their names (`run.ts`). Other
 * runs have all.
 */
function isOnPostgres(name: string): boolean {
  const part = inject("postgresPart");
  return depth !== "short" || part === null || lettersOf(name) % postgresParts === part;
}

/**
 * Runs a suite on both databases, in short runs a fifth of these suites and the others on SQLite; without
 * PostgreSQL its part is skipped.
 */
export const describeOnEach = (name: string, suite: Suite): void =>
  describeOn(isOnPostgres(name) ? databaseKinds : ["sqlite"], name, suite);

/**
 * Runs a suite about a wire or a rule, not about the store: in a slice on one of the databases, chosen by its
 * name and the seed, in other runs like `describeOnEach`. `test/store` tests the store's methods on each.
 */
export function describeOnOne(name: string, suite: Suite): void {
  if (depth !== "slice" || postgresTemplate === undefined) describeOnEach(name, suite);
  else describeOn(share(databaseKinds, lettersOf(name), databaseKinds.length), name, suite);
}

/** Like `describeOnOne`, for suites about several processes: in short runs on PostgreSQL, which has them. */
export const describeOnPostgres = (name: string, suite: Suite): void =>
  describeOn(
    depth === "full" || postgresTemplate === undefined ? databaseKinds : ["postgresql"],
    name,
    suite,
  );

function describeOn(kinds: readonly DatabaseKind[], name: string, suite: Suite): void {
  for (const kind of kinds)
    describe.skipIf(kind === "postgresql" && postgresTemplate === undefined)(`${name} (${kind})`, () =>
      suite(kind),
    );
}

/**
 * For rows that are the same on both databases: in a slice half of them for each database, in short runs all
 * on SQLite.
 */
export const halfFor = <T>(kind: DatabaseKind, rows: readonly T[]): readonly T[] =>
  depth === "short" && kind === "sqlite"
    ? rows
    : share(rows, databaseKinds.indexOf(kind), databaseKinds.length);

/** An open store on a fresh database; missing options have the system's values. */
export async function openTestStore(
  kind: DatabaseKind,
  options: Partial<Omit<StoreOptions, "databaseUrl">> = {},
): Promise<TestStore> {
  const database = await emptyDatabase(kind);
  const store = await openStore({
    clock: systemClock,
    random: systemRandom,
    ...options,
    databaseUrl: database.url,
  });
  return {
    ...database,
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A store that the tests of a suite share: for tests that use only their rows. */
export function storeOfSuite(
  kind: DatabaseKind,
  options?: Parameters<typeof openTestStore>[1],
): Pick<TestStore, "store" | "url"> {
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
 * unless `empty` is set; SQLite's file does not exist at first.
 */
export async function databaseUrl(
  kind: DatabaseKind,
  { empty = false }: { readonly empty?: boolean } = {},
): Promise<TestDatabase> {
  return kind === "sqlite" ? freshFile() : freshCopy(empty ? "template0" : "template");
}

async function freshFile(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(inject("databaseFolder"), "test-store-"));
  return {
    kind: "sqlite",
    url: `file:${join(folder, "platform.db")}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function freshCopy(template: string): Promise<TestDatabase> {
  await postgresReady();
  const name = `test_${randomBytes(8).toString("hex")}`;
  await runOn(urlOf("postgres"), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const drop = () => runOn(urlOf("postgres"), `DROP DATABASE ${name} WITH (FORCE)`);
  return { kind: "postgresql", url: urlOf(name), [Symbol.asyncDispose]: drop };
}

function urlOf(name: string): string {
  if (postgresTemplate === undefined) throw new Error("PostgreSQL is not installed");
  const url = new URL(postgresTemplate);
  url.pathname = name;
  return url.href;
}

let template: Promise<string> | undefined;

/**
 * The path of a migrated file. The first worker of a run that needs it makes it; two that begin together make
 * the same.
 */
function sqliteTemplate(): Promise<string> {
  const file = join(inject("databaseFolder"), "template.db");
  template ??= existsSync(file) ? Promise.resolve(file) : makeTemplate(file);
  return template;
}

async function makeTemplate(file: string): Promise<string> {
  const own = `${file}.${process.pid}`;
  await migrated(`file:${own}`);
  await rename(own, file);
  return file;
}

/**
 * PostgreSQL databases that finished tests of this worker used, emptied again: a copy takes ten times as
 * long.
 */
const emptied: TestDatabase[] = [];

/** The tables and functions that the migrations create in a database, once one was copied. */
let pristine: unknown;

/** A database in the state after the migrations, without other connections. */
async function emptyDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  if (kind === "sqlite") {
    const file = await freshFile();
    await copyFile(await sqliteTemplate(), pathOf(file.url));
    return file;
  }
  const database = emptied.pop() ?? (await freshCopy("template"));
  pristine ??= (await stateOf(database)).schema;
  return { ...database, [Symbol.asyncDispose]: () => putBack(database) };
}

/**
 * Keeps a database for the next test, unless it has other connections, which may still write, or what the
 * migrations made was changed: its schema, or the client of the command line, which one inserts.
 */
async function putBack(database: TestDatabase): Promise<void> {
  const { others, schema, used } = await stateOf(database);
  if (others > 0 || schema !== pristine) return database[Symbol.asyncDispose]();
  await runOn(
    database.url,
    `${used === null ? "" : `TRUNCATE ${used} CASCADE;`} DELETE FROM oauth_app WHERE client_id <> 'atp-cli'`,
  );
  emptied.push(database);
}

interface State {
  /** Connections other than the querying one. */
  readonly others: number;
  /** Of the schema and of the rows that migrations insert. */
  readonly schema: string;
  /**
   * The tables that have pages, without those in which migrations insert: each truncated table costs new
   * files.
   */
  readonly used: string | null;
}

async function stateOf({ url }: TestDatabase): Promise<State> {
  const [state] = await rowsIn(url, stateQuery);
  return {
    others: Number(state?.["others"]),
    schema: String(state?.["schema"]),
    used: (state?.["used"] ?? null) as State["used"],
  }; // a text
}

const stateQuery = `SELECT
  (SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend') AS others,
  (SELECT concat_ws(' ', (SELECT md5(string_agg(relname, ' ' ORDER BY relname)) FROM pg_class WHERE relkind IN ('r', 'i')),
    (SELECT count(*) FROM pg_attribute), (SELECT count(*) FROM pg_proc),
    (SELECT md5(a::text) FROM oauth_app a WHERE client_id = 'atp-cli'),
    (SELECT md5(string_agg(concat(migration_name, checksum, finished_at IS NULL), ' ' ORDER BY id)) FROM _prisma_migrations))) AS schema,
  (SELECT string_agg(oid::regclass::text, ', ') FROM pg_class
    WHERE relkind = 'r' AND pg_relation_size(oid) > 0 AND relname NOT IN ('_prisma_migrations', 'oauth_app')
      AND (relnamespace = 'public'::regnamespace OR (relnamespace = 'pgboss'::regnamespace AND relname LIKE 'job%'))) AS used`;

/** Runs one statement on a new connection. */
export async function runOn(url: string, statement: string): Promise<void> {
  const adapter = await connect(url);
  await adapter.executeScript(statement).finally(() => adapter.dispose());
}

/** The rows of a query, read without the store. */
export const rowsIn = async (url: string, query: string): Promise<Record<string, unknown>[]> =>
  (await rowsOfEach(url, [query]))[0] ?? [];

/** The rows of each query, on one connection. */
export async function rowsOfEach(
  url: string,
  queries: readonly string[],
): Promise<Record<string, unknown>[][]> {
  const adapter = await connect(url);
  const found: Record<string, unknown>[][] = [];
  try {
    for (const sql of queries) {
      const { columnNames, rows } = await adapter.queryRaw({ sql, args: [], argTypes: [] });
      found.push(rows.map((row) => Object.fromEntries(columnNames.map((name, index) => [name, row[index]]))));
    }
  } finally {
    await adapter.dispose();
  }
  return found;
}

const connect = (url: string): Promise<SqlDriverAdapter> =>
  url.startsWith("file:")
    ? new PrismaBetterSqlite3({ url }).connect()
    : new PrismaPg({ connectionString: url, max: 1 }).connect();
