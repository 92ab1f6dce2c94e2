import type { Clock } from "../core/clock.ts";
import type { RateCounters } from "../core/limits/counter.ts";
import type { OnStatement } from "./round-trips.ts";
import type { Dialect, JobRowsOf } from "./session.ts";
import type { Statements } from "./statements.ts";
import type { Transact } from "./transactions.ts";

/** An open database, migrated; other processes that start wait until `release`. */
export interface Backend<C> {
  readonly dialect: Dialect;
  /** Prisma's client inside a change: whatever it does belongs to the transaction that its caller is in. */
  readonly writer: C;
  /** Sees commits only, and cannot write. */
  readonly reader: C;
  /** Our own statements outside a change: they see commits only, and cannot write. */
  readonly reads: Statements;
  readonly transact: Transact;
  readonly jobs: JobRowsOf;
  readonly counters: RateCounters;
  readonly release: () => Promise<void>;
  /** Resolves once what runs has ended and every connection is closed. */
  readonly close: () => Promise<void>;
}

/** What opening a database takes. */
export interface BackendOptions {
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** Told of every round trip, if anybody asks. */
  readonly onStatement: OnStatement | undefined;
  /** Thrown where there is no database yet, instead of making one. */
  readonly ifMissing: Error | undefined;
  /** Told of what fails beside any call. */
  readonly failed: (text: string, thrown: unknown) => void;
}

/** Errors go to the process log with their cause, so Prisma need not look up the caller's lines for each statement. */
export const clientOptions = { errorFormat: "minimal" } as const;
