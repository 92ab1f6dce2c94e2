import type { Clock } from "../core/clock.ts";
import { causeText, Failure, rootCause } from "../core/failure.ts";
import type { Random } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { type Observe, unobserved } from "../core/observe.ts";
import type { Store, Tx } from "../core/store.ts";
import type { ReadSegment } from "../core/tasks/segment.ts";
import { type Backend, type BackendOptions, databaseLocation, decodePercent, pathOf } from "./backend.ts";
import { createChangeRunner } from "./change.ts";
import { driverFailure, isAway, translateErrors } from "./driver-failure.ts";
import { ownershipNote } from "./folder.ts";
import type { MigrateOptions } from "./migrate.ts";
import { type ChangeNews, createFeed, listeners } from "./news.ts";
import type { AddressSetting } from "./pooler.ts";
import type { Relay, RelayParts } from "./relay.ts";
import { type OnStatement, slowStatements } from "./round-trips.ts";
import { rowsOf } from "./rows.ts";
import { ProgrammingError, type Statements, sql } from "./statements.ts";

/**
 * The error for an operator when a database cannot be opened. It names the setting, the location and the
 * cause in one sentence, such as `DATABASE_URL: the database x at db:5432 cannot be opened: getaddrinfo
 * ENOTFOUND db`. It never contains the URL's password. Our own failures stay unchanged.
 */
export function openFailure(
  databaseUrl: string,
  thrown: unknown,
  address: AddressSetting = "DATABASE_URL",
): unknown {
  if (thrown instanceof Failure) return thrown;
  const failure = driverFailure(thrown);
  if (!(failure instanceof Failure)) return failure;
  const isFile = databaseUrl.startsWith("file:");
  const setting = isFile ? "DATABASE_URL or DATA_DIR" : address;
  const problem = `${databaseLocation(databaseUrl)} cannot be opened${isFile ? ownershipNote(pathOf(databaseUrl)) : ""}`;
  const text = `${setting}: ${problem}: ${safeText(thrown, databaseUrl)}`;
  // Without the cause, which may quote the URL. The text already has the cause's message.
  return new Failure(failure.reason, text);
}

/** Errors with a code, of the database or the system, contain no password. Other errors may quote the URL. */
function safeText(thrown: unknown, databaseUrl: string): string {
  const text = causeText(thrown);
  const { password } = new URL(databaseUrl);
  if (rootCause(thrown).code !== null || password === "") return text;
  return text.replaceAll(password, "***").replaceAll(decodePercent(password), "***");
}

export interface StoreOptions {
  /** `file:/absolute/path`, or `postgresql://…`. */
  readonly databaseUrl: string;
  /** The address of a standby of PostgreSQL, where scans run; by default they run on the primary. */
  readonly readUrl?: string | null;
  /**
   * The address of a pooler to the same PostgreSQL, for calls and tasks; by default they use `databaseUrl`.
   */
  readonly poolerUrl?: string | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
  /**
   * Runs right after the migrations, while other starting processes wait: creates the first account, checks
   * the installation.
   */
  readonly prepare?: (store: Store) => Promise<void>;
  /** Thrown if the database does not exist, instead of creating it. */
  readonly ifMissing?: Error;
  readonly applied?: MigrateOptions["applied"];
  /** Opens a database that a restore or a move is filling; without it such a database is refused. */
  readonly isIncomplete?: boolean;
  /** A change that takes longer is rolled back and refused; 15 s by default. */
  readonly changeMs?: number;
  /** Called for each round trip to the database. */
  readonly onStatement?: OnStatement;
  /** A statement that takes longer, in milliseconds, is logged; absent: none is. */
  readonly slowStatementMs?: number | null;
  /** Receives commits, waits and the use of connections. */
  readonly observe?: Observe;
  /** Reads the files of archived events; without it, they cannot be read. */
  readonly readSegment?: ReadSegment;
}

/**
 * Migrates the database, then opens the store.
 *
 * @throws Failure with a sentence for operators that names the setting, the location and the cause:
 * `failed_precondition` for a database of another release, `unavailable` for one that cannot be reached,
 * `internal` for one that refuses; what `prepare` throws; `ifMissing`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const failed = (text: string, cause: unknown) => options.log?.("error", text, { cause });
  const {
    databaseUrl,
    poolerUrl = null,
    readUrl = null,
    clock,
    ifMissing,
    applied,
    observe = unobserved,
    isIncomplete = false,
  } = options;
  const onStatement = statementListener(options);
  const opening = {
    databaseUrl,
    poolerUrl,
    readUrl,
    clock,
    onStatement,
    failed,
    observe,
    ifMissing,
    applied,
    isIncomplete,
  };
  const backend = await openBackend(opening).catch((thrown: unknown) => {
    const address = poolerUrl === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL";
    throw thrown === ifMissing ? thrown : openFailure(databaseUrl, thrown, address);
  });
  if (poolerUrl !== null) await checkPooler(poolerUrl, databaseUrl, backend);
  const store = await storeOn(backend, options, failed);
  try {
    await options.prepare?.(store);
  } catch (thrown) {
    await store.close();
    throw thrown;
  } finally {
    await backend.release();
  }
  return store;
}

function statementListener({
  onStatement,
  slowStatementMs = null,
  log,
}: StoreOptions): OnStatement | undefined {
  if (slowStatementMs === null || log === undefined) return onStatement;
  // The text has no values, and equal lines are counted.
  const report = (sql: string, ms: number) => log("warn", `a statement took more than ${ms} ms`, { sql });
  return slowStatements(slowStatementMs, report, onStatement);
}

/** Closes the backend when the pooler cannot be used. */
async function checkPooler(poolerUrl: string, databaseUrl: string, backend: Backend): Promise<void> {
  const { checkSameDatabase } = await import("./pooler.ts");
  try {
    await checkSameDatabase(poolerUrl, databaseUrl);
  } catch (thrown) {
    await backend.release();
    await backend.close();
    throw openFailure(poolerUrl, thrown);
  }
}

/** Loads PostgreSQL's driver only where it is used. */
async function openBackend(options: BackendOptions): Promise<Backend> {
  if (options.databaseUrl.startsWith("file:")) return (await import("./sqlite.ts")).openSqlite(options);
  if (!/^postgres(ql)?:/.test(options.databaseUrl))
    throw new Failure("invalid_argument", "DATABASE_URL: must begin with file: or postgresql:");
  return (await import("./postgresql.ts")).openPostgres(options);
}

/** Exchanges news with other processes, if the database can have any. */
async function relayOf({ dialect }: Backend, parts: RelayParts): Promise<Relay | null> {
  return dialect === "sqlite" ? null : (await import("./relay.ts")).openRelay(parts);
}

async function storeOn(
  backend: Backend,
  options: StoreOptions,
  failed: BackendOptions["failed"],
): Promise<Store> {
  const {
    databaseUrl,
    clock,
    random,
    changeMs = 15_000,
    observe = unobserved,
    log,
    readSegment = noSegments,
  } = options;
  const { dialect, writer, reader, reads, scans, replica, transact, jobs, counters } = backend;
  const listenerFailed = (thrown: unknown) => failed("a listener of the feed failed", thrown);
  const notified = createFeed(listenerFailed);
  const disconnected = (thrown: unknown) => failed("the connection for news is gone", thrown);
  const relay = await relayOf(backend, {
    databaseUrl,
    clock,
    notified: notified,
    failed: disconnected,
    listenerFailed,
  });
  // Any number: the processes do not all begin with the same one.
  let turn = Buffer.from(random(4)).readUInt32LE();
  const tell = (news: ChangeNews) => {
    const numbered = news.jobKinds.has("run") ? { ...news, turns: [turn++] } : news;
    notified.publish(numbered);
    relay?.send(numbered);
  };
  const afterwards = (thrown: unknown) => failed("work after a commit failed", thrown);
  const losses = listeners<void>(listenerFailed);
  const reportAway = (thrown: unknown): never => {
    if (isAway(thrown)) losses.notify();
    throw thrown;
  };
  let closed: Promise<void> | undefined;
  const rows: Tx = translateErrors(
    rowsOf({ ...reads, scans, db: reader, dialect, change: null, readSegment }, jobs),
  );
  const change = createChangeRunner(
    { client: writer, dialect, jobs, transact, readSegment },
    { clock, random, feed: { ...notified, publish: tell }, afterwards, changeMs, observe, log },
  );
  return {
    ...rows,
    afterCommit: (work) => void Promise.try(work).catch(afterwards),
    afterRollback: () => undefined,
    change: (work) => change(work).catch(reportAway),
    onAway: (listener) => void losses.add(listener),
    feed: notified.feed,
    broadcast: relay?.broadcast ?? null,
    replica,
    counters: translateErrors({ counters }).counters,
    shrink: (pages) =>
      backend.shrink(pages).catch((thrown: unknown) => Promise.reject(driverFailure(thrown))),
    ping: () =>
      transact((statements) => writeAndErase(statements, random)).catch((thrown: unknown) =>
        Promise.reject(driverFailure(thrown)),
      ),
    close: () => (closed ??= backend.close().then(() => relay?.close())),
  };
}

const noSegments: ReadSegment = async () => {
  throw new ProgrammingError("archived events are in files: open the store with `readSegment`");
};

/**
 * More pages of SQLite's file than a new task takes, so that the ping fails first. PostgreSQL compresses it:
 * a ping writes little there.
 */
const pingText = "x".repeat(98_304);

/** Uses a random key, so that processes that ping at the same time do not wait for each other. */
async function writeAndErase({ execute }: Statements, random: Random): Promise<void> {
  const key = `ping-${Buffer.from(random(8)).toString("hex")}`;
  await execute(sql`INSERT INTO setting (key, value) VALUES (${key}, ${pingText})`);
  await execute(sql`DELETE FROM setting WHERE key = ${key}`);
}
