/** The innermost cause of an error. */
export interface RootCause {
  /** SQLSTATE (`53100`), SQLite's name (`SQLITE_FULL`) or the system's (`ENOSPC`); null for an error without one. */
  readonly code: string | null;
  /** The message in one line, at most 300 characters. */
  readonly text: string;
}

/** The most errors that are unwrapped: an error may be its own cause. */
const depthMax = 10;
const textMax = 300;

/** What the driver adapters of the database say, in an object that is no error. */
interface Said {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
  readonly meta?: { readonly driverAdapterError?: unknown };
  readonly kind?: unknown;
  readonly originalCode?: unknown;
  readonly originalMessage?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
}

const isSaid = (value: unknown): value is Said => typeof value === "object" && value !== null;

/** Finds the innermost cause of a thrown value. Of an AggregateError it takes the first error. */
export function rootCause(thrown: unknown): RootCause {
  let inner = thrown;
  for (let depth = 0; depth < depthMax && isSaid(inner); depth += 1) {
    const next: unknown = inner.meta?.driverAdapterError ?? inner.cause ?? inner.errors?.[0];
    if (next === undefined || next === null) break;
    inner = next;
  }
  if (!isSaid(inner)) return { code: null, text: oneLine(String(inner)) };
  const code = inner.originalCode ?? inner.code ?? inner.kind;
  const address = [inner.host, inner.port].filter((part) => part !== undefined).join(":");
  return { code: typeof code === "string" ? code : null, text: oneLine(String(inner.originalMessage ?? inner.message ?? address)) };
}

/** The cause as the end of a sentence: `SQLITE_FULL: database or disk is full`. */
export function causeText(thrown: unknown): string {
  const { code, text } = rootCause(thrown);
  return code === null || text.includes(code) ? text : [code, text].filter((part) => part !== "").join(": ");
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, textMax);
