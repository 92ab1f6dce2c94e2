import { Failure } from "../core/failure.ts";
import { ProgrammingError, StatementFailure } from "./statements.ts";

/** The members of an error of Prisma and its driver adapters that are read here. */
interface DriverError {
  readonly code?: unknown;
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: Cause } };
  readonly cause?: Cause;
}

interface Cause {
  readonly kind?: unknown;
  readonly originalCode?: unknown;
}

/** A conflict with another transaction: a retry may succeed. */
const conflicts: ReadonlySet<unknown> = new Set(["P2034", "TransactionWriteConflict", "40001", "40P01"]);

/** Another process holds SQLite's lock. */
const busy: ReadonlySet<unknown> = new Set([
  "P1008",
  "SocketTimeout",
  "SQLITE_BUSY",
  "SQLITE_BUSY_SNAPSHOT",
  "SQLITE_LOCKED",
]);

/** A row was absent when read, and another transaction inserted it before this one: a retry finds it. */
const unique: ReadonlySet<unknown> = new Set([
  "P2002",
  "UniqueConstraintViolation",
  "23505",
  "SQLITE_CONSTRAINT_UNIQUE",
  "SQLITE_CONSTRAINT_PRIMARYKEY",
]);

/** The database cannot be reached, or has no free connection now. */
const away: ReadonlySet<unknown> = new Set([
  "P1001",
  "P1002",
  "P1017",
  "P2024",
  "P2028",
  "P2037",
  "DatabaseNotReachable",
  "ConnectionClosed",
  "TooManyConnections",
  "TransactionAlreadyClosed",
]);

/**
 * PostgreSQL's classes 08 (connection), 25P03 (idle in a transaction for too long), 53 (resources), 57P
 * (shutting down), 58 (its files and disk), and 55P03 (`lock_timeout`); SQLite without disk space, or without
 * its disk.
 */
const awayState = /^(08|25P03|53|57P|58|55P03|SQLITE_(FULL|IOERR|CANTOPEN|NOMEM))/;

/**
 * The maximum number of retries for a change that failed with this error; 0 if a retry
 * cannot help. The wait for SQLite's lock is already over before the change begins.
 */
export function maxRetries(thrown: unknown): number {
  const codes = codesOf(thrown);
  if (codes.some((code) => conflicts.has(code))) return 10;
  return codes.some((code) => unique.has(code)) ? 2 : 0;
}

/** True if another process holds SQLite's lock. */
export const isBusy = (thrown: unknown): boolean => codesOf(thrown).some((code) => busy.has(code));

/** True if another transaction held PostgreSQL's lock for longer than `lock_timeout`. */
export const isLocked = (thrown: unknown): boolean => codesOf(thrown).includes("55P03");

/**
 * True for a failure of the store because the database is away, a standby, or without disk space. Codes like
 * ECONNREFUSED are the system's.
 */
export const isAway = (thrown: unknown): boolean =>
  thrown instanceof Failure &&
  codesOf(thrown.cause).some(
    (code) => away.has(code) || /^(E[A-Z]+|25006)$/.test(String(code)) || awayState.test(String(code)),
  );

/**
 * True if the server refuses writes: it is a standby, as after a failover. A connection to the primary has to
 * be made again.
 */
export const isReadOnly = (thrown: unknown): boolean => codesOf(thrown).includes("25006");

/** True for errors that Prisma or one of its adapters raised, and for answers of the database. */
const isAnswer = (thrown: unknown): boolean =>
  thrown instanceof StatementFailure
    ? thrown.answered
    : thrown instanceof Error && /^(PrismaClient|DriverAdapterError)/.test(thrown.name);

/**
 * True for the errors of a statement. Prisma only adds `clientVersion` to a driver's plain error of a broken
 * connection.
 */
const isOfStatement = (thrown: unknown): boolean =>
  thrown instanceof StatementFailure ||
  isAnswer(thrown) ||
  (thrown instanceof Error && "clientVersion" in thrown);

/**
 * The error that leaves the store. Failures, and the caller's mistakes and errors, stay
 * unchanged. Other errors lose their text, which may quote rows and statements and
 * belongs only in the process log.
 *
 * @param ofCaller the error that the caller's own work threw, if any.
 */
export function driverFailure(thrown: unknown, ofCaller?: unknown): unknown {
  if (thrown instanceof Failure || thrown instanceof ProgrammingError) return thrown;
  if (thrown === ofCaller && !isOfStatement(thrown)) return thrown;
  const codes = codesOf(thrown);
  const unavailable = codes.some(
    (code) => away.has(code) || conflicts.has(code) || busy.has(code) || awayState.test(String(code)),
  );
  if (unavailable || !isAnswer(thrown)) return notAvailable(thrown);
  return new Failure("internal", "internal error", { cause: thrown });
}

export const notAvailable = (cause: unknown): Failure =>
  new Failure("unavailable", "the database is not available, try again", { cause, retryAfter: 1 });

/** Prisma's code, and the kind and state of the adapter's error in it. */
function codesOf(thrown: unknown): unknown[] {
  if (typeof thrown !== "object" || thrown === null) return [];
  const { code, meta, cause } = thrown as DriverError;
  const nested = meta?.driverAdapterError?.cause ?? cause;
  return [code, nested?.kind, nested?.originalCode].filter((each) => each !== undefined);
}

/** The methods of an aggregate. Asynchronous methods may fail with a driver's error. */
type Methods = Readonly<Record<string, unknown>>;

/**
 * Aggregates whose methods fail only with failures. Inside a change, the change translates
 * the errors, because it needs the driver's error to decide on a retry.
 */
export function translateErrors<T extends object>(aggregates: T): T {
  const pairs = Object.entries(aggregates).map(([name, rows]: [string, unknown]) => [
    name,
    isMethods(rows) ? translatedMethods(rows) : rows,
  ]);
  // Each name has the same method as before, with translated failures.
  return Object.fromEntries(pairs) as T;
}

const isMethods = (value: unknown): value is Methods => typeof value === "object" && value !== null;

function translatedMethods(rows: Methods): Methods {
  return Object.fromEntries(
    Object.entries(rows).map(([name, method]) => [
      name,
      isMethod(method) ? translatedMethod(method) : method,
    ]),
  );
}

type Method = (...args: unknown[]) => unknown;

const isMethod = (value: unknown): value is Method => typeof value === "function";

const translatedMethod =
  (method: Method): Method =>
  (...args) => {
    const answer = method(...args);
    return isPromiseLike(answer) ? Promise.resolve(answer).catch(refuse) : answer;
  };

/** Prisma's promises are lazy: they start when they are awaited. */
const isPromiseLike = (answer: unknown): answer is PromiseLike<unknown> =>
  typeof answer === "object" && answer !== null && "then" in answer;

function refuse(thrown: unknown): never {
  throw driverFailure(thrown);
}
