import { pino } from "pino";
import type { Log } from "./core/log.ts";

/** Errors behind an error that are told of, at most. */
const causesMax = 5;

/** The process log: JSON lines on standard error, so that standard output stays the caller's. */
export function processLog(level: string): Log {
  const logger = pino(
    { level, base: null, serializers: { cause: (thrown: unknown) => described(thrown, causesMax) } },
    pino.destination(2),
  );
  return (at, text, fields) => logger[at](fields ?? {}, text);
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
