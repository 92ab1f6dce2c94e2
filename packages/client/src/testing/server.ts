import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** How a server is started. */
export interface ServerOptions {
  /**
   * The program and its first arguments, such as `["./atp"]`; by default ATP_SERVER, then the package
   * `agent-task-platform` in node_modules.
   */
  readonly server?: readonly string[] | undefined;
  /** Decides ids and keys, and stops the time between calls, so that answers are equal in each run. */
  readonly seed?: string | number | undefined;
  /** The time at the start. */
  readonly at?: Date | string | undefined;
  /** A file of calls that are made before the server is ready. */
  readonly fixtures?: string | undefined;
  /**
   * Settings, such as AGENT_PROFILES. Of the environment of this process the server gets PATH, HOME, TMPDIR,
   * LANG and NODE_ENV only.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A running server. */
export interface StartedServer {
  readonly baseUrl: string;
  readonly key: string;
  /** The last lines of its log. */
  log(): string;
  stop(): Promise<void>;
}

/** Settings of the tested program, such as its DATABASE_URL or Vite's BASE_URL, are not for this server. */
const passed = ["PATH", "HOME", "TMPDIR", "LANG", "NODE_ENV", "NODE_COMPILE_CACHE", "SystemRoot"];
const own = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => passed.includes(name)));

/** Lines of the log that are kept. */
const linesMax = 200;

/**
 * Starts `atp serve --test`. It ends with this process, also when that is killed. @throws Error with the log
 * when it does not start
 */
export async function startServer({
  server,
  seed,
  at,
  fixtures,
  env = {},
}: ServerOptions): Promise<StartedServer> {
  const [program = "", ...first] = server ?? findServer();
  const flags = [
    "serve",
    "--test",
    "--attached",
    ...(seed === undefined ? [] : ["--seed", String(seed)]),
    ...(at === undefined ? [] : ["--at", new Date(at).toISOString()]),
    ...(fixtures === undefined ? [] : ["--fixtures", fixtures]),
  ];
  const child = spawn(program, [...first, ...flags], {
    env: { ...own(), PORT: "0", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => {
    lines.push(
      ...String(chunk)
        .split("\n")
        .filter((line) => line !== ""),
    );
    lines.splice(0, lines.length - linesMax);
  });
  const log = () => lines.join("\n");
  const { base_url: baseUrl, api_key: apiKey } = await ready(child, log);
  // A test runner that has nothing else to do ends, and its end closes the server's standard input.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr])
    (stream as { unref?: () => void }).unref?.();
  return { baseUrl, key: apiKey, log, stop: () => stop(child) };
}

function ready(
  child: ChildProcess,
  log: () => string,
): Promise<{ readonly base_url: string; readonly api_key: string }> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += String(chunk);
      const line = /^\{.*"base_url".*\}$/m.exec(said)?.[0];
      if (line !== undefined) resolve(JSON.parse(line) as { base_url: string; api_key: string }); // The line of `serve --test`.
    });
    child.once("error", (cause) =>
      reject(new Error(`the server did not start: ${cause.message}`, { cause })),
    );
    child.once("exit", (code) =>
      reject(new Error(`the server ended with ${code} before it was ready:\n${log()}${said}`)),
    );
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.ref();
  child.kill("SIGTERM");
  await ended;
}

/** @throws Error when there is no server */
function findServer(): readonly string[] {
  const named = process.env["ATP_SERVER"];
  if (named) return named.split(" ");
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const file = join(folder, "node_modules/agent-task-platform/package.json");
    if (existsSync(file)) {
      const { bin } = JSON.parse(readFileSync(file, "utf8")) as { readonly bin: { readonly atp: string } }; // The package of the server.
      return [process.execPath, join(dirname(file), bin.atp)];
    }
    if (folder === dirname(folder)) break;
  }
  throw new Error(
    'no server was found: install agent-task-platform as a devDependency, set ATP_SERVER, or pass { server: ["./atp"] }',
  );
}
