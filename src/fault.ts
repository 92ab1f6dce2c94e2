import { ConfigError } from "./config.ts";
import { Failure } from "./core/failure.ts";

/** What a process that cannot go on says: plainly what is meant for an operator's eyes, and anything else whole, as a fault of ours. */
export function faultText(error: unknown): string {
  const plain = error instanceof ConfigError || error instanceof Failure;
  return `${plain ? error.message : String(error instanceof Error ? error.stack : error)}\n`;
}
