import { environment } from "./runtime.ts";

const levels = ["debug", "info", "warn", "error", "off"] as const;
/** How much is logged: this level and those after it. */
export type LogLevel = (typeof levels)[number];

/** Where lines of the log go, for example `console`. Lines have no secrets, and no content of tasks. */
export interface Logger {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
  /** `error` is what the agent of a worker has thrown. */
  error(line: string, error?: unknown): void;
}

export interface LogOptions {
  /** Default: the environment variable `ATP_LOG`, or else `warn`; of a worker `info`. */
  readonly logLevel?: LogLevel | undefined;
  /** Default: `console`. */
  readonly logger?: Logger | undefined;
}

/** @throws TypeError for an unknown level */
export function logOf({ logger = console, logLevel }: LogOptions, usual: LogLevel): Logger {
  const level = logLevel ?? environment("ATP_LOG") ?? usual;
  const least = (levels as readonly string[]).indexOf(level);
  if (least < 0)
    throw new TypeError(
      `${logLevel === undefined ? "ATP_LOG" : "logLevel"}: must be one of ${levels.join(", ")}`,
    );
  const has = (each: LogLevel) => levels.indexOf(each) >= least;
  return {
    debug: (line) => has("debug") && logger.debug(line),
    info: (line) => has("info") && logger.info(line),
    warn: (line) => has("warn") && logger.warn(line),
    error: (line, ...error) => has("error") && logger.error(line, ...error),
  };
}
