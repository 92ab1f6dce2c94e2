import type { CliContext } from "./context.ts";
import { UsageError } from "./failures.ts";
import { clean, safeJson } from "./text.ts";

/** A context whose standard output takes lines of JSON and writes what a filter makes of each. */
export interface Filtered {
  readonly context: CliContext;
  /** Resolves when all lines are written; true if the filter failed for one. */
  readonly end: () => Promise<boolean>;
}

/**
 * Opens a filter of jq. A result that is a text is written as it is, any other one as a line of JSON. A line
 * for which the filter fails is reported by `onFailure`, and the next lines continue.
 *
 * @throws UsageError when the filter is not valid
 */
export async function openFilter(
  context: CliContext,
  filter: string,
  onFailure: (message: string) => void,
): Promise<Filtered> {
  // 1.4 MB, which only this flag needs.
  const { raw } = await import("jq-wasm");
  const compiled = await raw("null", filter);
  if (compiled.exitCode === 3) throw new UsageError(`--jq: ${reasonIn(compiled.stderr)}`);
  const { stdout } = context.process;
  let rest = "";
  let hasFailed = false;
  let written = Promise.resolve();

  async function writeLine(line: string): Promise<void> {
    const { stdout: results, stderr, exitCode } = await raw(line, filter, ["-c"]);
    for (const result of results.split("\n"))
      if (result !== "") stdout.write(`${textOf(JSON.parse(result))}\n`);
    if (exitCode === 0) return;
    hasFailed = true;
    onFailure(`--jq: ${reasonIn(stderr)}`);
  }
  function write(text: string | Uint8Array): void {
    const lines = `${rest}${Buffer.from(text).toString()}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) written = written.then(() => writeLine(line));
  }
  return {
    context: { ...context, process: { ...context.process, stdout: { write } } },
    async end() {
      await written;
      return hasFailed;
    },
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? clean(value) : safeJson(value));

/** The reason in what jq writes to standard error. */
const reasonIn = (stderr: string): string =>
  stderr.replaceAll(/^jq: (error( \(at [^)]*\))?: )?|\njq: \d+ compile errors?$/g, "").trim() ||
  "the filter failed";
