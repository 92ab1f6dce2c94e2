import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Random } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { Store, Tx } from "../core/store.ts";
import type { Backend, BackendOptions } from "./backend.ts";
import { changer } from "./change.ts";
import { driverFailure } from "./driver-failure.ts";
import { createFeed } from "./feed.ts";
import type { News } from "./news.ts";
import { openFailure } from "./open-failure.ts";
import type { Relay, RelayParts } from "./relay.ts";
import type { OnStatement } from "./round-trips.ts";
import { rowsOf } from "./rows.ts";
import type { Client } from "./session.ts";
import { sql } from "./sql.ts";
import type { Statements } from "./statements.ts";
import { translated } from "./translated.ts";

export interface StoreOptions {
  /** `file:/absolute/path`, or `postgresql://…`. */
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
  /** Runs right after the migrations, while other processes that start wait: the first account, checks of the installation. */
  readonly prepare?: (store: Store) => Promise<void>;
  /** Thrown where there is no database yet, instead of making one. */
  readonly ifMissing?: Error;
  /** A change that takes longer than this is rolled back and refused; 15 s unless given. */
  readonly changeMs?: number;
  /** Told of every round trip to the database. */
  readonly onStatement?: OnStatement;
}

/**
 * Opens the store, bringing its database up to date first.
 *
 * @throws Failure with a sentence for operators that names the setting, the place and the cause: `precondition` for a
 * database of another release, `unavailable` for one that cannot be reached, `internal` for one that refuses; what
 * `prepare` throws; `ifMissing`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const failed = (text: string, cause: unknown) => options.log?.("error", text, { cause });
  const { databaseUrl, clock, onStatement, ifMissing } = options;
  const backend = await openBackend({ databaseUrl, clock, onStatement, failed, ifMissing }).catch((thrown: unknown) => {
    throw thrown === ifMissing ? thrown : openFailure(databaseUrl, thrown);
  });
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

/** PostgreSQL's driver is loaded only where it is wanted. */
async function openBackend(options: BackendOptions): Promise<Backend<Client>> {
  if (options.databaseUrl.startsWith("file:")) return (await import("./sqlite.ts")).openSqlite(options);
  if (!/^postgres(ql)?:/.test(options.databaseUrl)) throw new Failure("invalid", "DATABASE_URL: must begin with file: or postgresql:");
  const backend = await (await import("./postgresql.ts")).openPostgres(options);
  // Both clients come from the same models, and this room uses nothing that SQLite's lacks.
  return backend as unknown as Backend<Client>;
}

/** Other processes, if there can be any, hear of changes and are heard. */
async function relayOf({ dialect }: Backend<Client>, parts: RelayParts): Promise<Relay | null> {
  return dialect === "sqlite" ? null : (await import("./relay.ts")).openRelay(parts);
}

async function storeOn(backend: Backend<Client>, options: StoreOptions, failed: BackendOptions["failed"]): Promise<Store> {
  const { databaseUrl, clock, random, changeMs = 15_000 } = options;
  const { dialect, writer, reader, reads, transact, jobs, counters } = backend;
  const told = createFeed((thrown) => failed("a listener of the feed failed", thrown));
  const unheard = (thrown: unknown) => failed("the connection for news is gone", thrown);
  const relay = await relayOf(backend, { databaseUrl, clock, told, failed: unheard });
  const tell = (news: News) => {
    told.tell(news);
    relay?.send(news);
  };
  const afterwards = (thrown: unknown) => failed("what was to follow a commit failed", thrown);
  let closed: Promise<void> | undefined;
  const rows: Tx = translated(rowsOf({ ...reads, db: reader, dialect, change: null }, jobs));
  return {
    ...rows,
    afterCommit: (work) => void Promise.try(work).catch(afterwards),
    change: changer({ client: writer, dialect, jobs, transact }, { clock, random, feed: { ...told, tell }, afterwards, changeMs }),
    feed: told.feed,
    counters: translated({ counters }).counters,
    ping: () =>
      transact((statements) => writeAndErase(statements, random)).catch((thrown: unknown) => Promise.reject(driverFailure(thrown))),
    close: () => (closed ??= backend.close().then(() => relay?.close())),
  };
}

/** Some pages of the database, so that a disk without room for calls has none for this either. */
const pingText = "x".repeat(16_384);

/** Under a name of its own: processes that ping at the same time do not wait for each other. */
async function writeAndErase({ execute }: Statements, random: Random): Promise<void> {
  const key = `ping-${Buffer.from(random(8)).toString("hex")}`;
  await execute(sql`INSERT INTO setting (key, value) VALUES (${key}, ${pingText})`);
  await execute(sql`DELETE FROM setting WHERE key = ${key}`);
}
