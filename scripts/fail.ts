import { ConfigError } from "../src/config.ts";
import { Failure } from "../src/core/failure.ts";

/** Ends a command with exit code 1. What is meant for an operator's eyes is shown plainly, anything else whole, as a fault of ours. */
export function fail(error: unknown): void {
  const plain = error instanceof ConfigError || error instanceof Failure;
  process.stderr.write(`${plain ? error.message : String(error instanceof Error ? error.stack : error)}\n`);
  process.exitCode = 1;
}
