import { ConfigError } from "../../../src/config/variable.ts";
import { causeText, Failure } from "../../../src/core/failure.ts";

/**
 * The final message of a process that must stop. Errors for operators and errors of the system are one
 * sentence with the cause. Any other error is a defect of the platform and is written with its stack.
 */
export function faultText(error: unknown): string {
  if (error instanceof ConfigError) return `${error.message}\n`;
  if (error instanceof Failure) return `${withCause(error)}\n`;
  if (isSystemError(error)) return `${causeText(error)}\n`;
  return `${String(error instanceof Error ? error.stack : error)}\n`;
}

function withCause({ message, cause }: Failure): string {
  const text = cause === undefined ? "" : causeText(cause);
  return message.includes(text) ? message : `${message}: ${text}`;
}

/** Whether the error is from a call of the operating system. */
const isSystemError = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && "code" in error;
