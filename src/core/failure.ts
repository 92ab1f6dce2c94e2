/**
 * Why a call was refused. The union is closed: every wire form has a
 * `Record<Reason, …>` with its code and status (contract/decisions.md 9), so that
 * a new reason does not compile until each wire has an answer for it.
 */
export type Reason =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "insufficient_scope"
  | "absent"
  | "exists"
  | "precondition"
  | "limited"
  | "exhausted"
  | "too_large"
  | "late"
  | "unsupported_media"
  | "wrong_method"
  | "unavailable"
  | "cancelled"
  | "unimplemented"
  | "internal";

/** What a failure may carry beside its text. */
export interface FailureFacts {
  /** What really happened: for the process log only. */
  readonly cause?: unknown;
  /** Whole seconds after which a retry may succeed. */
  readonly retryAfter?: number | undefined;
  /** The field at fault, where the text begins with it. */
  readonly path?: string | undefined;
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

  constructor(reason: Reason, message: string, facts: FailureFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = reason;
    this.retryAfter = facts.retryAfter;
    this.path = facts.path;
  }
}

/** Input that breaks a rule: `path` is the field's, dotted, in the proto's spelling. */
export const invalid = (path: string, rule: string): Failure =>
  path === "" ? new Failure("invalid", rule) : new Failure("invalid", `${path}: ${rule}`, { path });

/** The same refusal with other names for the field and for the fields that its rule mentions. */
export function renamed(
  { reason, path, message, cause, retryAfter }: Failure,
  name: (path: string) => string,
  reword = (rule: string): string => rule,
): Failure {
  const rule = path === undefined ? message : message.slice(path.length + 2);
  const named = name(path ?? "");
  return new Failure(reason, `${named}: ${reword(rule)}`, { cause, retryAfter, path: named });
}

/**
 * Absent, or not the caller's: the same answer for both.
 *
 * @param path the field that names it, where a request names something besides what it is about.
 */
export const absent = (what: string, path?: string): Failure =>
  path === undefined ? new Failure("absent", `${what} not found`) : new Failure("absent", `${path}: ${what} not found`, { path });

/** What a thrown value is to a caller. */
export function failureOf(thrown: unknown): Failure {
  return thrown instanceof Failure ? thrown : new Failure("internal", "internal error", { cause: thrown });
}
