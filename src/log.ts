import { type DestinationStream, pino } from "pino";
import { causeText, rootCause } from "./core/failure.ts";
import type { Log } from "./core/log.ts";

/** Repetitions of a line are counted for this long and then written as one line. */
const windowMs = 30_000;
/** The maximum number of different lines that are counted; beyond it, the oldest line's count is written early. */
const linesMax = 200;

interface Line {
  readonly level: "warn" | "error";
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly timer: NodeJS.Timeout;
  readonly since: number;
  count: number;
}

/**
 * Returns a log that writes identical warnings and errors once and then counts them: `… (repeated 57 times in the last 30 s)`.
 * Lines are identical if level, text and all fields except `cause` are; the caller puts the text of the cause into `text`.
 */
function countRepeats(write: Log): Log {
  const lines = new Map<string, Line>();

  /** Writes the number of a line's repetitions, if any, and stops counting. */
  function writeCount(key: string, line: Line): boolean {
    clearTimeout(line.timer);
    lines.delete(key);
    if (line.count === 0) return false;
    const seconds = Math.round((performance.now() - line.since) / 1000);
    const times = line.count === 1 ? "once" : `${line.count} times`;
    write(line.level, `${line.text} (repeated ${times} in the last ${seconds} s)`, line.fields);
    return true;
  }

  function count(key: string, { level, text, fields }: Pick<Line, "level" | "text" | "fields">): void {
    // A line that was repeated may be repeated again: keep counting.
    const timer = setTimeout(() => {
      if (writeCount(key, line)) count(key, line);
    }, windowMs);
    // The process exits without waiting for the counts.
    timer.unref();
    const line: Line = { level, text, fields, timer, since: performance.now(), count: 0 };
    lines.set(key, line);
  }

  return (level, text, fields = {}) => {
    if (level !== "warn" && level !== "error") return write(level, text, fields);
    const { cause: _, ...rest } = fields;
    const key = JSON.stringify([level, text, rest]);
    const counted = lines.get(key);
    if (counted) {
      counted.count += 1;
      return;
    }
    const [oldest] = lines.size >= linesMax ? lines : [];
    if (oldest) writeCount(...oldest);
    write(level, text, fields);
    count(key, { level, text, fields: rest });
  };
}

/** The maximum number of causes and errors that are logged for an error. */
const causesMax = 5;

/** The paths that a process writes to, for errors that do not include them. */
export interface LogPaths {
  /** The path of the SQLite database. */
  readonly database?: string;
  /** The data folder. */
  readonly folder?: string;
}

/**
 * The process log: JSON lines on standard error; standard output stays free for the caller. A line with a
 * `cause` has the innermost cause in its text. Identical warnings and errors are written once and counted.
 *
 * @param to receives the lines instead of standard error.
 */
export function processLog(level: string, places: LogPaths = {}, to: DestinationStream = pino.destination(2)): Log {
  const logger = pino({ level, base: null, serializers: { cause: (thrown: unknown) => describeError(thrown, causesMax) } }, to);
  const write = countRepeats((lineLevel, text, fields) => logger[lineLevel](fields ?? {}, text));
  return (lineLevel, text, fields) =>
    write(lineLevel, fields?.["cause"] === undefined ? text : `${text}: ${causeWithPath(fields["cause"], places)}`, fields);
}

/** The root cause, with the affected file or folder. */
function causeWithPath(thrown: unknown, { database, folder }: LogPaths): string {
  const { code } = rootCause(thrown);
  const text = causeText(thrown);
  const path = code?.startsWith("SQLITE_") ? database : code === "ENOSPC" ? folder : undefined;
  return path === undefined || text.includes(path) ? text : `${text} (${path})`;
}

/** An error and its causes as plain data, without other members: errors of database drivers refer to the connection. */
export function describeError(thrown: unknown, causes: number): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { name, message, stack, cause } = thrown;
  return {
    ...{ type: name, message, stack },
    ...("code" in thrown && { code: thrown.code }),
    ...(causes > 0 && cause !== undefined && { cause: describeError(cause, causes - 1) }),
    ...(causes > 0 &&
      thrown instanceof AggregateError && { errors: thrown.errors.slice(0, causesMax).map((each) => describeError(each, 0)) }),
  };
}
