import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterAll } from "vitest";
import { runCli } from "../../cli/app.ts";
import type { CliContext } from "../../cli/frame/context.ts";
import { fetchOf } from "../client/rig.ts";
import type { Person, Service } from "../support/service.ts";
import { screen } from "./screen.ts";

/** What a command wrote, and its exit code. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly opened: readonly string[];
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input, at once or in parts; without one it is empty. */
  readonly input?: string | Iterable<string>;
  /** The present time. */
  readonly now?: number;
}

/** A folder that the tests of a file can write to; it is the home folder of their commands. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "atp-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const base = (fetching: typeof fetch, opened: string[]) => ({
  fetch: fetching,
  openUrl: async (url: string) => opened.push(url) > 0,
  onInterrupt: () => () => undefined,
  now: Date.now,
  sleep: async () => undefined,
});

/** Runs a command line in this process, without a terminal. */
export async function runWith(
  home: string,
  service: Pick<Service, "url">,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const { code, out, err, opened } = startWith(home, service, args, options);
  const ran = { code: await code, out: out(), err: err(), opened };
  if (args.includes("--json") && args[0] !== "api") checkNames(ran.out, args);
  return ran;
}

/** Members whose own members are named by users. */
const ofUsers: ReadonlySet<string> = new Set([
  "metadata",
  "result",
  "params",
  "input",
  "value",
  "structured_output",
  "source",
]);

/** All names of members. */
function namesIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return Object.entries(value).flatMap(([name, inner]) => [
    name,
    ...(ofUsers.has(name) || name.endsWith("_schema") ? [] : namesIn(inner)),
  ]);
}

/**
 * JSON of commands has the names of v2. @throws Error with a name in another form, or an enum of protobuf.
 */
function checkNames(out: string, args: readonly string[]): void {
  for (const line of out.split("\n").filter((text) => /^[[{]/.test(text))) {
    const wrong = namesIn(JSON.parse(line)).find((name) => !/^[a-z][a-z0-9_]*$/.test(name));
    if (wrong !== undefined)
      throw new Error(`atp ${args.join(" ")}: the member ${wrong} is not in snake_case`);
  }
}

/** Starts a command line in this process, without a terminal. */
export function startWith(
  home: string,
  service: Pick<Service, "url">,
  args: readonly string[],
  options: RunOptions = {},
) {
  const [out, err, opened]: [string[], string[], string[]] = [[], [], []];
  const written = new EventEmitter();
  const interrupts = new Set<() => void>();
  const context: CliContext = {
    ...base(fetchOf(service), opened),
    now: () => options.now ?? Date.now(),
    process: {
      stdout: { write: (text) => out.push(String(text)) > 0 && written.emit("text") },
      stderr: { write: (text) => err.push(String(text)) },
      env: { HOME: home, ...options.env },
    },
    stdin: Readable.from(typeof options.input === "string" ? [options.input] : (options.input ?? [])),
    onInterrupt(stop) {
      interrupts.add(stop);
      return () => void interrupts.delete(stop);
    },
  };
  const code = runCli(args, context);
  const ended = code.then((exit) =>
    Promise.reject(new Error(`the command has ended with ${exit}: ${err.join("")}`)),
  );
  ended.catch(() => undefined);
  return {
    code,
    opened,
    out: () => out.join(""),
    err: () => err.join(""),
    /** Resolves when the output has this text. @throws when the command ends before. */
    async until(text: string): Promise<void> {
      while (!out.join("").includes(text)) await Promise.race([once(written, "text"), ended]);
    },
    interrupt: () => interrupts.forEach((stop) => void stop()),
  };
}

/** The environment of a person's command. */
export const envOf = (service: Pick<Service, "url">, { key }: Pick<Person, "key">) => ({
  ATP_URL: service.url,
  ATP_KEY: key,
});

/** A command on a terminal of 80 columns and 24 rows. */
export function runOnTerminal(
  home: string,
  service: Pick<Service, "url">,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  fetching = fetchOf(service),
  over: Partial<CliContext> = {},
) {
  const shown = screen();
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = {
    isTTY: true,
    columns: 80,
    rows: 24,
    getColorDepth: () => 8,
    write: (text: string | Uint8Array) => shown.write(String(text)),
  };
  const interrupts = new Set<() => void>();
  const opened: string[] = [];
  const context: CliContext = {
    ...base(fetching, opened),
    process: { stdout: output, stderr: output, env: { HOME: home, ...env } },
    stdin: input,
    onInterrupt(stop) {
      interrupts.add(stop);
      return () => void interrupts.delete(stop);
    },
    ...over,
  };
  return {
    code: runCli(args, context),
    opened,
    screen: shown,
    /** Types a line, once the screen has this text. */
    async type(after: string, line: string): Promise<void> {
      await shown.until(after);
      input.write(`${line}\r`);
    },
    interrupt: () => interrupts.forEach((stop) => void stop()),
  };
}
