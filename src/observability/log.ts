import { type DestinationStream, pino } from "pino";
import { causeText, rootCause } from "../core/failure.ts";
import type { Log } from "../core/log.ts";
import { repeats } from "../core/repeats.ts";
import { currentSpan } from "../core/trace.ts";
import { outputOf } from "../start/process/output.ts";

/** How often counts are looked at, in milliseconds. */
const sweepMs = 5_000;

/**
 * Returns a log that writes identical warnings and errors once and then counts them: `… (repeated 57 times in
 * the last 60 s)`. Lines are identical if level, text and all fields except `cause` are; the caller puts the
 * text of the cause into `text`.
 */
function countRepeats(write: Log): Log {
  const counted = repeats(write, () => performance.now());
  let timer: NodeJS.Timeout | undefined;

  function sweep(): void {
    counted.sweep();
    if (counted.size() > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return (level, text, fields = {}) => {
    if (level !== "warn" && level !== "error") return write(level, text, fields);
    const { cause: _, ...rest } = fields;
    counted.again(JSON.stringify([level, text, rest]), { level, text, fields });
    // The process exits without waiting for the counts.
    timer ??= setInterval(sweep, sweepMs).unref();
  };
}

/** The maximum number of causes and errors that are logged for an error. */
const causesMax = 5;

/** The paths that a process writes to, for errors that do not include them. */
export interface LogPaths {
  /** The path of the SQLite database. */
  readonly database?: string;
  readonly folder?: string;
}

/**
 * The process log: JSON lines on standard error; standard output stays free for the caller. A line with a
 * `cause` has the innermost cause in its text. Identical warnings and errors are written once and counted.
 *
 * @param to receives the lines instead of standard error.
 * @param also receives the same lines, for another destination.
 */
export function processLog(
  level: string,
  places: LogPaths = {},
  to: DestinationStream = outputOf(2),
  also: Log | null = null,
): Log {
  const logger = pino(
    { level, base: null, serializers: { cause: (thrown: unknown) => describeError(thrown, causesMax) } },
    to,
  );
  const write = countRepeats((lineLevel, text, fields = {}) => {
    const traceId = currentSpan()?.trace.traceId;
    logger[lineLevel]({ ...fields, ...(traceId !== undefined && { traceId }) }, text);
    if (also === null || !logger.isLevelEnabled(lineLevel)) return;
    also(
      lineLevel,
      text,
      "cause" in fields ? { ...fields, cause: describeError(fields["cause"], causesMax) } : fields,
    );
  });
  return (lineLevel, text, fields) =>
    write(
      lineLevel,
      fields?.["cause"] === undefined ? text : `${text}: ${causeWithPath(fields["cause"], places)}`,
      fields,
    );
}

/** The root cause, with the affected file or folder. */
function causeWithPath(thrown: unknown, { database, folder }: LogPaths): string {
  const { code } = rootCause(thrown);
  const text = causeText(thrown);
  const path = code?.startsWith("SQLITE_") ? database : code === "ENOSPC" ? folder : undefined;
  return path === undefined || text.includes(path) ? text : `${text} (${path})`;
}

/**
 * An error and its causes as plain data, without other members: errors of database drivers refer to the
 * connection.
 */
export function describeError(thrown: unknown, causes: number): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { name, message, stack, cause } = thrown;
  return {
    type: name,
    message,
    stack,
    ...("code" in thrown && { code: thrown.code }),
    ...(causes > 0 && cause !== undefined && { cause: describeError(cause, causes - 1) }),
    ...(causes > 0 &&
      thrown instanceof AggregateError && {
        errors: thrown.errors.slice(0, causesMax).map((each) => describeError(each, 0)),
      }),
  };
}
