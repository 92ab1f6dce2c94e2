import type { Clock } from "../core/clock.ts";
import type { ReplicaState } from "../core/installation/checks.ts";
import type { Observe } from "../core/observe.ts";
import type { RateCounters } from "../core/processes/shared.ts";
import type { Client } from "./client.ts";
import type { MigrateOptions } from "./migrate.ts";
import type { OnStatement } from "./round-trips.ts";
import type { JobRowsOf } from "./session.ts";
import type { Dialect, Statements } from "./statements.ts";
import type { Transact } from "./transactions.ts";

/** An open database, migrated; other processes that start wait until `release`. */
export interface Backend {
  readonly dialect: Dialect;
  /** Prisma's client inside a change: its statements belong to the caller's transaction. */
  readonly writer: () => Promise<Client>;
  /** Prisma's client outside a change: it sees commits only, and cannot write. */
  readonly reader: () => Promise<Client>;
  /** Our own statements outside a change: they see commits only, and cannot write. */
  readonly reads: Statements;
  /** The same for statements that may read many rows. They hold up neither `reads` nor changes. */
  readonly scans: Pick<Statements, "query">;
  /** The replica of `scans`; null without one. */
  readonly replica: (() => Promise<ReplicaState>) | null;
  readonly transact: Transact;
  /** `Store.shrink`. */
  readonly shrink: (pages: number) => Promise<number>;
  readonly jobs: JobRowsOf;
  readonly counters: RateCounters;
  readonly release: () => Promise<void>;
  /** Resolves once running work has ended and every connection is closed. */
  readonly close: () => Promise<void>;
}

/** The parameters for opening a database. */
export interface BackendOptions {
  readonly databaseUrl: string;
  /** The address of a standby for scans; null: none. */
  readonly readUrl: string | null;
  /** The address of a pooler for calls and tasks; null: they use `databaseUrl`. */
  readonly poolerUrl: string | null;
  readonly clock: Clock;
  /** Called for each round trip to the database. */
  readonly onStatement: OnStatement | undefined;
  /** Receives commits, waits and the use of connections. */
  readonly observe: Observe;
  /** Thrown if the database does not exist, instead of creating it. */
  readonly ifMissing: Error | undefined;
  readonly applied: MigrateOptions["applied"];
  /** Opens a database that a restore or a move is filling; without it such a database is refused. */
  readonly isIncomplete: boolean;
  /** Reports failures outside any call. */
  readonly failed: (text: string, thrown: unknown) => void;
}

/**
 * The location of a database, without user and password: `the file /srv/x/platform.db`, `the database
 * platform at db.example.com:5432`.
 */
export function databaseLocation(databaseUrl: string): string {
  if (databaseUrl.startsWith("file:")) return `the file ${pathOf(databaseUrl)}`;
  const { hostname, port, pathname, searchParams, username } = new URL(databaseUrl);
  const host = hostname || searchParams.get("host") || "localhost";
  // PostgreSQL's clients use the user's name if there is no database name.
  const name = decodePercent(pathname.slice(1) || username);
  return `the database ${name} at ${host}:${port || "5432"}`;
}

export const pathOf = (databaseUrl: string): string => databaseUrl.replace(/^file:/, "");

/** Decodes percent-encoding; returns a malformed text unchanged. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
