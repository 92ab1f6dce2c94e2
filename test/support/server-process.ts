import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A server in a separate process. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  /** The first start's key. */
  readonly key: string;
  readonly child: ChildProcess;
}

/** The checkout. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The part of the environment for child processes: where programs are, and where compiled code is cached. */
export function ownEnvironment(): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE = "", NODE_COMPILE_CACHE_PORTABLE = "" } = process.env;
  return { PATH, NODE_COMPILE_CACHE, NODE_COMPILE_CACHE_PORTABLE };
}

/** Starts `atp serve` on a free port and an empty data folder; resolves once it is ready. */
export async function startServer(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const dataDir = env["DATA_DIR"] ?? mkdtempSync(join(tmpdir(), "server-"));
  const child = spawn(process.execPath, ["cli/main.ts", "serve"], {
    cwd: root,
    env: { ...ownEnvironment(), DATA_DIR: dataDir, PORT: "0", RATE_LIMITS: "off", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const port = await readyPort(child);
  return {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    key: readFileSync(join(dataDir, "first-key"), "utf8").trim(),
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The port, once the log says `ready` and the first start has printed the path of its key. */
async function readyPort(child: ChildProcess): Promise<number> {
  let said = "";
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk;
      const port = /"port":(\d+),.*"msg":"ready"/.exec(said)?.[1];
      if (port !== undefined && said.includes("first-key")) resolve(Number(port));
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => reject(new Error(said)));
  });
}
