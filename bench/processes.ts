import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";

/** A server under measurement, in a process and on a data folder of its own. */
export interface Measured extends AsyncDisposable {
  readonly pid: number;
  /** The API key, where the server is ours. */
  readonly key: string;
  /** Posts JSON and answers the parsed answer; anything but 200 is an error. */
  post(path: string, body: unknown): Promise<Record<string, unknown>>;
}

const root = new URL("..", import.meta.url);
const connections = 32;

/** Starts the platform as `npm start` does. */
export const startPlatform = (env: Readonly<Record<string, string>> = {}): Promise<Measured> =>
  start(["--max-semi-space-size=4", "src/main.ts"], { RATE_LIMITS: "off", NODE_COMPILE_CACHE: "node_modules/.cache/compiled", ...env });

/** Starts a floor: a bare server of bench/floors. */
export const startFloor = (name: string): Promise<Measured> => start([`bench/floors/${name}.ts`], {});

async function start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const port = await freePort();
  const child = spawn(process.execPath, [...args], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", NODE_ENV: "production", DATA_DIR: folder, PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await readiness(child);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const key = args.at(-1) === "src/main.ts" ? readFileSync(join(folder, "first-key"), "utf8").trim() : "";
  return {
    pid: child.pid ?? 0,
    key,
    async post(path, body) {
      const headers = { "content-type": "application/json", "x-service-api-key": key };
      const { statusCode, body: answer } = await pool.request({ path, method: "POST", headers, body: JSON.stringify(body) });
      const text = await answer.text();
      if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`);
      return JSON.parse(text) as Record<string, unknown>;
    },
    async [Symbol.asyncDispose]() {
      await pool.destroy();
      child.kill("SIGTERM");
      await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the process says that it is ready, and, on a first start, has said where the key is. */
async function readiness(child: ChildProcess): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk;
      if (said.includes("ready") && (said.includes("listMessages") || said.includes("floor"))) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
