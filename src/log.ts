import { type DestinationStream, pino } from "pino";
import type { Log } from "./core/log.ts";
import { causeText, rootCause } from "./core/root-cause.ts";
import { countRepeats } from "./log/repeats.ts";

/** Errors behind an error that are told of, at most. */
const causesMax = 5;

/** Where a process writes, for errors that do not say it themselves. */
export interface Places {
  /** The path of the SQLite database. */
  readonly database?: string;
  /** The data folder. */
  readonly folder?: string;
}

/**
 * The process log: JSON lines on standard error, so that standard output stays the caller's. A line with a
 * `cause` has the innermost cause in its text; identical warnings and errors are written once and counted.
 *
 * @param to takes the lines instead of standard error.
 */
export function processLog(level: string, places: Places = {}, to: DestinationStream = pino.destination(2)): Log {
  const logger = pino({ level, base: null, serializers: { cause: (thrown: unknown) => described(thrown, causesMax) } }, to);
  const write = countRepeats((at, text, fields) => logger[at](fields ?? {}, text));
  return (at, text, fields) => write(at, fields?.["cause"] === undefined ? text : `${text}: ${located(fields["cause"], places)}`, fields);
}

/** The root cause, with the file or the folder that it is about. */
function located(thrown: unknown, { database, folder }: Places): string {
  const { code } = rootCause(thrown);
  const text = causeText(thrown);
  const place = code?.startsWith("SQLITE_") ? database : code === "ENOSPC" ? folder : undefined;
  return place === undefined || text.includes(place) ? text : `${text} (${place})`;
}

/** An error and what is behind it, without what else hangs on it: on a driver's there is the whole connection. */
export function described(thrown: unknown, causes: number): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { name, message, stack, cause } = thrown;
  return {
    ...{ type: name, message, stack },
    ...("code" in thrown && { code: thrown.code }),
    ...(causes > 0 && cause !== undefined && { cause: described(cause, causes - 1) }),
    ...(causes > 0 && thrown instanceof AggregateError && { errors: thrown.errors.slice(0, causesMax).map((each) => described(each, 0)) }),
  };
}
