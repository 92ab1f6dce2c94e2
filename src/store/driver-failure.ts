import { Failure } from "../core/failure.ts";
import { Misuse } from "./misuse.ts";
import { StatementFailure } from "./statements.ts";

/** What Prisma and its driver adapters say of an error, as far as it is read here. */
interface DriverError {
  readonly code?: unknown;
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: Cause } };
  readonly cause?: Cause;
}

interface Cause {
  readonly kind?: unknown;
  readonly originalCode?: unknown;
}

/** Another transaction was first, and everything may be well the next time. */
const conflicts: ReadonlySet<unknown> = new Set(["P2034", "TransactionWriteConflict", "40001", "40P01"]);

/** SQLite's lock is held by another process. */
const busy: ReadonlySet<unknown> = new Set(["P1008", "SocketTimeout", "SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_LOCKED"]);

/** Something was found absent, and made by somebody else meanwhile: looking again finds it. */
const unique: ReadonlySet<unknown> = new Set([
  ...["P2002", "UniqueConstraintViolation", "23505"],
  ...["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"],
]);

/** The database cannot be reached, or has no room for us now. */
const away: ReadonlySet<unknown> = new Set([
  ...["P1001", "P1002", "P1017", "P2024", "P2028", "P2037"],
  ...["DatabaseNotReachable", "ConnectionClosed", "TooManyConnections", "TransactionAlreadyClosed"],
]);

/**
 * PostgreSQL's classes 08 (connection), 25P03 (stood still in a change), 53 (resources), 57P (shutting down), and a lock
 * that was waited for too long; SQLite without room, or without its disk.
 */
const awayState = /^(08|25P03|53|57P|55P03|SQLITE_(FULL|IOERR|CANTOPEN|NOMEM))/;

/**
 * How often a change that failed so is tried again at most; 0 for what no repetition
 * mends. SQLite's lock was waited for already, before the change began.
 */
export function repetitions(thrown: unknown): number {
  const marks = marksOf(thrown);
  if (marks.some((mark) => conflicts.has(mark))) return 10;
  return marks.some((mark) => unique.has(mark)) ? 2 : 0;
}

/** True for SQLite's lock in another process's hands. */
export const isBusy = (thrown: unknown): boolean => marksOf(thrown).some((mark) => busy.has(mark));

/** True for PostgreSQL's lock in another transaction's hands for longer than `lock_timeout`. */
export const isLocked = (thrown: unknown): boolean => marksOf(thrown).includes("55P03");

/** True for what Prisma or an adapter of its says itself, and for what the database has answered. */
const isAnswer = (thrown: unknown): boolean =>
  thrown instanceof StatementFailure ? thrown.answered : thrown instanceof Error && /^(PrismaClient|DriverAdapterError)/.test(thrown.name);

/** True for what a statement came to: through Prisma a driver's plain error, of a connection that broke, is only marked on its way. */
const isOfStatement = (thrown: unknown): boolean =>
  thrown instanceof StatementFailure || isAnswer(thrown) || (thrown instanceof Error && "clientVersion" in thrown);

/**
 * What leaves the store: refusals, and a caller's mistakes and errors, as they are;
 * all else without its text, which may quote rows and statements and is for the
 * process log alone.
 *
 * @param ofCaller what the caller's own work threw, if it did.
 */
export function driverFailure(thrown: unknown, ofCaller?: unknown): unknown {
  if (thrown instanceof Failure || thrown instanceof Misuse) return thrown;
  if (thrown === ofCaller && !isOfStatement(thrown)) return thrown;
  const marks = marksOf(thrown);
  const unavailable = marks.some((mark) => away.has(mark) || conflicts.has(mark) || busy.has(mark) || awayState.test(String(mark)));
  if (unavailable || !isAnswer(thrown)) {
    return new Failure("unavailable", "the database is not available, try again", { cause: thrown, retryAfter: 1 });
  }
  return new Failure("internal", "internal error", { cause: thrown });
}

/** Prisma's code, and the adapter's kind and state beneath it. */
function marksOf(thrown: unknown): unknown[] {
  if (typeof thrown !== "object" || thrown === null) return [];
  const { code, meta, cause } = thrown as DriverError;
  const beneath = meta?.driverAdapterError?.cause ?? cause;
  return [code, beneath?.kind, beneath?.originalCode].filter((mark) => mark !== undefined);
}
