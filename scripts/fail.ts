import { faultText } from "../src/fault.ts";

/** Ends a command with exit code 1, once it has closed what it opened. */
export function fail(error: unknown): void {
  process.stderr.write(faultText(error));
  process.exitCode = 1;
}
