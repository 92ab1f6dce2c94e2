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
 * Starts `atp serve` by `node --watch`, with its output in this terminal. Node prints an error of syntax
 * once, and waits for the next save.
 *
 * @param ended called when Node itself ends without a request.
 */
export function startServer(root: string, env: NodeJS.ProcessEnv, ended: () => void): WatchedServer {
  let isWanted = true;
  let isStopped = false;
  const launch = (): ChildProcess => {
    const words = ["--watch", "--watch-preserve-output", "--max-semi-space-size=8", "cli/main.ts", "serve"];
    // A separate group, so that an end by force ends the server that Node watches too.
    const child = spawn(process.execPath, words, {
      cwd: root,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    });
    child.once("exit", () => child === running && isWanted && ended());
    return child;
  };
  let running = launch();
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const slow = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), endMs);
    child.kill("SIGTERM");
    await once(child, "exit");
    clearTimeout(slow);
  };
  return {
    async restart() {
      isWanted = false;
      await end(running);
      // Without a look, a stop during a restart would leave the process that is launched here.
      if (isStopped) return;
      isWanted = true;
      running = launch();
    },
    async stop() {
      isWanted = false;
      isStopped = true;
      await end(running);
    },
  };
}
