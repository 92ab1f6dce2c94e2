import { spawn } from "node:child_process";

/** Lines of a worker's own output that are kept to be shown. */
const linesMax = 10;

/** A process of the worker that is checked. */
export interface WorkerProcess {
  /** How it ended, in words; null while it runs. */
  readonly ended: string | null;
  /** Resolves when it and its children have ended. */
  readonly over: Promise<void>;
  /** The last lines that it wrote. */
  readonly output: readonly string[];
  /** Asks it to stop: SIGTERM to it and its children, as a service manager does. */
  terminate(): void;
  /** Lets it stand still, as when its machine sleeps. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL to it and its children, as when the machine is gone. */
  kill(): void;
}

/** Starts a command by the shell, with these variables beside those of this process. */
export function startWorker(command: string, variables: Readonly<Record<string, string>>): WorkerProcess {
  const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...variables } });
  const { promise: over, resolve: isOver } = Promise.withResolvers<void>();
  let ended: string | null = null;
  let output: readonly string[] = [];
  const hear = (chunk: Buffer) => {
    output = [...output, ...`${chunk}`.split("\n").filter((line) => line.trim() !== "")].slice(-linesMax);
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  child.once("error", (error) => {
    ended = `could not be started: ${error.message}`;
    isOver();
  });
  child.once("exit", (code, signal) => {
    ended = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  });
  // Its children have its output too: it is closed when all are gone.
  child.once("close", () => {
    process.removeListener("exit", kill);
    isOver();
  });
  function signalAll(signal: NodeJS.Signals): void {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It is gone already.
    }
  }
  const kill = () => signalAll("SIGKILL");
  // Whatever ends this process ends what it started.
  process.once("exit", kill);
  return {
    get ended() {
      return ended;
    },
    over,
    get output() {
      return output;
    },
    terminate: () => signalAll("SIGTERM"),
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    kill,
  };
}
