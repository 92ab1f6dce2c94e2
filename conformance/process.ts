import { spawn } from "node:child_process";

/** Lines of a worker's output that are kept for messages. */
const linesMax = 10;

/** A process of the checked worker. */
export interface WorkerProcess {
  /** A text that describes how it ended; null while it runs. */
  readonly ended: string | null;
  /** Resolves when it and its children have ended. */
  readonly exited: Promise<void>;
  /** The last lines of its output. */
  readonly output: readonly string[];
  /** Sends SIGTERM to it and its children, as a service manager does. */
  terminate(): void;
  /** Suspends it, as when its machine sleeps. */
  suspend(): void;
  resume(): void;
  /** Sends SIGKILL to it and its children, as when the machine fails. */
  kill(): void;
}

/** Starts a command in the shell, with these variables in addition to those of this process. */
export function startWorker(command: string, variables: Readonly<Record<string, string>>): WorkerProcess {
  const child = spawn(command, {
    shell: true,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  const { promise: over, resolve: isOver } = Promise.withResolvers<void>();
  let ended: string | null = null;
  let output: readonly string[] = [];
  const collect = (chunk: Buffer) => {
    output = [...output, ...`${chunk}`.split("\n").filter((line) => line.trim() !== "")].slice(-linesMax);
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  child.once("error", (error) => {
    ended = `could not be started: ${error.message}`;
    isOver();
  });
  child.once("exit", (code, signal) => {
    ended = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  });
  // Its children share its output, which closes when all have ended.
  child.once("close", () => {
    process.removeListener("exit", kill);
    isOver();
  });
  function signalAll(signal: NodeJS.Signals): void {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended already.
    }
  }
  const kill = () => signalAll("SIGKILL");
  // When this process exits, the worker's processes end too.
  process.once("exit", kill);
  return {
    get ended() {
      return ended;
    },
    exited: over,
    get output() {
      return output;
    },
    terminate: () => signalAll("SIGTERM"),
    suspend: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    kill,
  };
}
