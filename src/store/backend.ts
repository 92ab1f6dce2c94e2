import type { SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import type { Clock } from "../core/clock.ts";
import type { RateCounters } from "../core/limits/counter.ts";
import type { Gate } from "./gate.ts";
import type { Dialect } from "./session.ts";

/** An open database, migrated; other processes that start wait until `release`. */
export interface Backend<C> {
  readonly dialect: Dialect;
  readonly writer: C;
  /** Sees commits only, and cannot write. */
  readonly reader: C;
  readonly gate: Gate;
  readonly counters: RateCounters;
  readonly release: () => Promise<void>;
}

/** What opening a database takes. */
export interface BackendOptions {
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** Puts the counting of round trips around an adapter, if any is wanted. */
  readonly traced: (factory: SqlDriverAdapterFactory) => SqlDriverAdapterFactory;
  /** Told of what fails beside any call. */
  readonly failed: (text: string, thrown: unknown) => void;
}

/** Errors go to the process log with their cause, so Prisma need not look up the caller's lines for each statement. */
export const clientOptions = { errorFormat: "minimal" } as const;
