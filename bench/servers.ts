import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import type { Installed } from "./installed.ts";

/** A measured server in a separate process. */
export interface Server extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  /** Its resources, and its event loop's delay since the last probe; only for servers with bench/probe.ts. */
  probe(): Promise<Probe>;
  /**
   * Posts JSON, or a form if the body is one, and returns the parsed response. Throws for any status but
   * success.
   *
   * @param headers replaces the server's default headers.
   */
  post(path: string, body: unknown, headers?: Environment): Promise<Record<string, unknown>>;
}

/** The output of bench/probe.ts. */
export interface Probe {
  readonly loopDelayP99Ms: number;
  /** The number of handles and timers by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

type Environment = Readonly<Record<string, string>>;

/** The root folder of this checkout. */
export const root = fileURLToPath(new URL("..", import.meta.url));
/** A server that has not exited after this time is killed. */
const exitTimeoutMs = 5_000;

/** The environment of `npm start`, without rate limits. */
const ownEnv = { RATE_LIMITS: "off", NODE_COMPILE_CACHE: "node_modules/.cache/compiled" };

/** Starts the platform as `npm start` does, on an existing database; calls have its key. */
export const startPlatform = ({ env, key }: Installed, more: Environment = {}): Promise<Server> =>
  start({
    args: [...startFlags, ...program],
    env: { ...env, ...ownEnv, ...more },
    headers: { "x-service-api-key": key },
  });

/**
 * Starts the platform of a checkout as `npm start` does there, on an installation that it creates if there is
 * none.
 */
export const startCheckout = (checkout: string, env: Environment): Promise<Server> =>
  start({ args: [...startFlags, ...programOf(checkout)], env: { ...ownEnv, ...env }, cwd: checkout });

/** What serves. */
const program = ["cli/main.ts", "serve"];
/** Earlier releases serve by this program. */
const earlier = "src/main.ts";
const programOf = (checkout: string): readonly string[] =>
  existsSync(join(checkout, earlier)) ? [earlier] : program;

/** The flags of `npm start`. */
const startFlags = ["--max-semi-space-size=8"];

/** Like `startPlatform`, with bench/probe.ts. */
export const startProbed = ({ env, key }: Installed, more: Environment = {}): Promise<Server> =>
  start({
    args: [...startFlags, "--import", "./bench/probe.ts", ...program],
    env: { ...env, RATE_LIMITS: "off", ...more },
    headers: { "x-service-api-key": key },
  });

/** Starts a floor: a server of bench/floors. */
export const startFloor = (name: string, env: Environment = {}): Promise<Server> =>
  start({ args: [`bench/floors/${name}.ts`], env });

/** Starts a peer: a server of bench/peers. */
export const startPeer = (
  name: string,
  folder: string,
  headers: Environment = {},
  env: Environment = {},
): Promise<Server> =>
  start({
    args: [`bench/peers/${name}.mjs`],
    env: { FOLDER: folder, LOG_LEVEL: "error", LOG_JSON: "true", ...env },
    headers,
  });

interface Start {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly headers?: Environment;
  /** The checkout to start; default: this one. */
  readonly cwd?: string;
}

async function start({ args, env, headers = {}, cwd = root }: Start): Promise<Server> {
  const port = await freePort();
  const child = spawn(process.execPath, [...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", NODE_ENV: "production", PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  await readiness(child);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: null });
  return {
    pid: child.pid ?? 0,
    port,
    probe: () => probe(child),
    post: (path, body, callHeaders = headers) => post(pool, path, body, callHeaders),
    async [Symbol.asyncDispose]() {
      await pool.destroy();
      process.off("exit", kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const killTimer = setTimeout(kill, exitTimeoutMs);
      await exited;
      clearTimeout(killTimer);
    },
  };
}

async function post(
  pool: Pool,
  path: string,
  body: unknown,
  headers: Environment,
): Promise<Record<string, unknown>> {
  const isForm = body instanceof URLSearchParams;
  const { statusCode, body: answer } = await pool.request({
    path,
    method: "POST",
    headers: {
      "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
      ...headers,
    },
    body: isForm ? body.toString() : JSON.stringify(body),
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

async function probe(child: ChildProcess): Promise<Probe> {
  const { promise, resolve } = Promise.withResolvers<Probe>();
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk;
    const [, answer] = /^\{"probe":(.*)\}$/m.exec(output) ?? [];
    if (answer !== undefined) resolve(JSON.parse(answer) as Probe);
  };
  child.stderr?.on("data", collect);
  child.kill("SIGUSR2");
  return promise.finally(() => child.stderr?.off("data", collect));
}

/** Resolves when the process prints "ready"; if it fails later, its output is printed. */
async function readiness(child: ChildProcess): Promise<void> {
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output = (output + chunk).slice(-10_000);
      if (/\bready\b/.test(output)) resolve();
    };
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    child.once("exit", (code) => {
      if (code) process.stderr.write(output);
      reject(new Error(`the server ended with ${code}`));
    });
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
