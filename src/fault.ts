import { ConfigError } from "./config.ts";
import { Failure } from "./core/failure.ts";
import { causeText } from "./core/root-cause.ts";

/**
 * What a process that cannot go on says: in one sentence with its cause what is meant for an operator's eyes and what
 * the system refused, and anything else whole, as a fault of ours.
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
