import { ConfigError } from "./config.ts";
import { Failure } from "./core/failure.ts";
import { causeText } from "./core/root-cause.ts";

/**
 * The last words of a process that cannot go on. Errors for operators and errors of the system are one sentence with the
 * cause. Any other error is a defect of ours and is written with its stack.
 */
export function faultText(error: unknown): string {
  if (error instanceof ConfigError) return `${error.message}\n`;
  if (error instanceof Failure) return `${withCause(error)}\n`;
  if (isOfSystem(error)) return `${causeText(error)}\n`;
  return `${String(error instanceof Error ? error.stack : error)}\n`;
}

function withCause({ message, cause }: Failure): string {
  const text = cause === undefined ? "" : causeText(cause);
  return message.includes(text) ? message : `${message}: ${text}`;
}

/** What a call of the operating system failed with. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "syscall" in error && "code" in error;
