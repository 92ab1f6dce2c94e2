import { pino } from "pino";
import type { Log } from "./core/log.ts";

/** The process log: JSON lines on standard error, so that standard output stays the caller's. */
export function processLog(level: string): Log {
  const logger = pino({ level, base: null, serializers: { cause: pino.stdSerializers.errWithCause } }, pino.destination(2));
  return (at, text, fields) => logger[at](fields ?? {}, text);
}
