export interface RootCause {
  /**
   * SQLSTATE (`53100`), SQLite's name (`SQLITE_FULL`) or the system's (`ENOSPC`); null for an error without
   * one.
   */
  readonly code: string | null;
  /** The message in one line, at most 300 characters. */
  readonly text: string;
}

/** The maximum number of nested errors to unwrap: an error may be its own cause. */
const depthMax = 10;
const textMax = 300;

/** Members of the error objects of database driver adapters, which are not instances of Error. */
interface ErrorLike {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
  readonly meta?: { driverAdapterError?: unknown };
  readonly kind?: unknown;
  readonly originalCode?: unknown;
  readonly originalMessage?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
}

const isErrorLike = (value: unknown): value is ErrorLike => typeof value === "object" && value !== null;

/** Finds the innermost cause of a thrown value. In an AggregateError it follows the first error. */
export function rootCause(thrown: unknown): RootCause {
  let inner = thrown;
  for (let depth = 0; depth < depthMax && isErrorLike(inner); depth += 1) {
    const next: unknown = inner.meta?.driverAdapterError ?? inner.cause ?? inner.errors?.[0];
    if (next === undefined || next === null) break;
    inner = next;
  }
  if (!isErrorLike(inner)) return { code: null, text: oneLine(String(inner)) };
  const code = inner.originalCode ?? inner.code ?? inner.kind;
  const address = [inner.host, inner.port].filter((part) => part !== undefined).join(":");
  return {
    code: typeof code === "string" ? code : null,
    text: oneLine(String(inner.originalMessage ?? inner.message ?? address)),
  };
}

/** The cause as the end of a sentence: `SQLITE_FULL: database or disk is full`. */
export function causeText(thrown: unknown): string {
  const { code, text } = rootCause(thrown);
  return code === null || text.includes(code) ? text : [code, text].filter((part) => part !== "").join(": ");
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, textMax);

/**
 * Why a call was refused. The union is closed: every wire form has a
 * `Record<Reason, …>` with its code and status (spec/decisions.md 9), so that
 * a new reason does not compile until each wire maps it.
 */
export type Reason =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "insufficient_scope"
  | "not_found"
  | "already_exists"
  | "idempotency_conflict"
  | "failed_precondition"
  | "rate_limited"
  | "resource_exhausted"
  | "too_large"
  | "deadline_exceeded"
  | "unsupported_media_type"
  | "method_not_allowed"
  | "unavailable"
  | "cancelled"
  | "unimplemented"
  | "internal";

export interface Mistake {
  /** The dotted path of the field at fault, in the proto's spelling; empty for the request itself. */
  readonly path: string;
  /** For instance `must be at most 64 characters`. */
  readonly rule: string;
}

/** Optional facts of a failure, in addition to its text. */
export interface FailureFacts {
  /** The original error, for the process log only. */
  readonly cause?: unknown;
  /** Full seconds after which a retry may succeed. */
  readonly retryAfter?: number | undefined;
  /** The field at fault. The text begins with it, unless the failure has a `noun`. */
  readonly path?: string | undefined;
  /** The kind of the object that was not found, for instance `task`. */
  readonly noun?: string | undefined;
  /** All mistakes of the request, the one of the text first; default: that of `path`. */
  readonly mistakes?: readonly Mistake[] | undefined;
}

/**
 * A refusal. `message` is public and safe to send; `cause` is private. Anything
 * else that is thrown reaches callers as `internal`, without its text.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly reason: Reason;
  readonly retryAfter: number | undefined;
  readonly path: string | undefined;
  readonly noun: string | undefined;
  readonly mistakes: readonly Mistake[];

  constructor(reason: Reason, message: string, facts: FailureFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = reason;
    this.retryAfter = facts.retryAfter;
    this.path = facts.path;
    this.noun = facts.noun;
    this.mistakes =
      facts.mistakes ??
      (facts.path === undefined ? [] : [{ path: facts.path, rule: message.slice(facts.path.length + 2) }]);
  }
}

/** Input that breaks a rule. `path` is the field's dotted path, in the proto's spelling. */
export const invalidArgument = (path: string, rule: string): Failure =>
  path === ""
    ? new Failure("invalid_argument", rule)
    : new Failure("invalid_argument", `${path}: ${rule}`, { path });

/**
 * The characters of all mistakes of a failure: the trailers of gRPC clients have 8 KiB, also for the text and
 * in base64.
 */
const mistakesLength = 3072;

/** Input that breaks several rules. The text has the first; the mistakes after 3 KiB are left out. */
export function invalidArguments(mistakes: readonly [Mistake, ...Mistake[]]): Failure {
  const [{ path, rule }] = mistakes;
  const { reason, message, path: named } = invalidArgument(path, rule);
  const listed: Mistake[] = [];
  let length = 0;
  for (const mistake of mistakes) {
    length += mistake.path.length + mistake.rule.length;
    if (length > mistakesLength) break;
    listed.push(mistake);
  }
  return new Failure(reason, message, { path: named, mistakes: listed });
}

/**
 * Returns the same failure with other names for the field and for the fields that its rule mentions, and
 * without its further mistakes.
 */
export function renameField(
  failure: Failure,
  name: (path: string) => string,
  reword = (rule: string): string => rule,
): Failure {
  const { reason, path, message, cause, retryAfter, noun } = failure;
  if (noun !== undefined && path !== undefined) return nameField(failure, name(path));
  const rule = path === undefined ? message : message.slice(path.length + 2);
  const named = name(path ?? "");
  return new Failure(reason, `${named}: ${reword(rule)}`, { cause, retryAfter, path: named });
}

/**
 * The object does not exist or is not the caller's: the failure is the same for both.
 *
 * @param path the field that names the object; for the main object of the request `call` adds it
 * (`pipeline/subject.ts`).
 */
export const notFound = (noun: string, path?: string): Failure =>
  path === undefined
    ? new Failure("not_found", `${noun} not found`, { noun })
    : new Failure("not_found", `${path}: ${noun} not found`, { path });

/** The same failure with the field that has the id of the object. The text does not begin with the field. */
export const nameField = ({ reason, message, cause, noun }: Failure, path: string): Failure =>
  new Failure(reason, message, { cause, noun, path, mistakes: [{ path, rule: message }] });

export function failureOf(thrown: unknown): Failure {
  return thrown instanceof Failure ? thrown : new Failure("internal", "internal error", { cause: thrown });
}
