import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A platform that restarts whenever a file that it imports is saved. */
export interface WatchedServer {
  /** Starts it again, for changes of generated code. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The longest orderly end; then the processes are killed. */
const endMs = 10_000;

/**
 * Starts `atp serve` by `node --watch`, with its output in this terminal. Node prints an error of syntax once, and waits for the next save.
 *
 * @param ended called when Node itself ends without a request.
 */
export function startServer(root: string, env: NodeJS.ProcessEnv, ended: () => void): WatchedServer {
  let isWanted = true;
  const launch = (): ChildProcess => {
    const words = ["--watch", "--watch-preserve-output", "--max-semi-space-size=8", "cli/main.ts", "serve"];
    const child = spawn(process.execPath, words, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });
    child.once("exit", () => child === running && isWanted && ended());
    return child;
  };
  let running = launch();
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const slow = setTimeout(() => child.kill("SIGKILL"), endMs);
    child.kill("SIGTERM");
    await once(child, "exit");
    clearTimeout(slow);
  };
  return {
    async restart() {
      isWanted = false;
      await end(running);
      isWanted = true;
      running = launch();
    },
    async stop() {
      isWanted = false;
      await end(running);
    },
  };
}
