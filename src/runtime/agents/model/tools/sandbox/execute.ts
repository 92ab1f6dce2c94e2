import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { SandboxSettings } from "../../../../../config/sandbox.ts";

/** The number of bytes kept of the beginning, and of the end. */
const keptBytes = 8_000;

/** Keeps the beginning and the end of a program's output. */
function outputKeeper(): { readonly take: (chunk: Buffer) => void; readonly text: () => string } {
  let first = Buffer.alloc(0);
  let last = Buffer.alloc(0);
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      const more = keptBytes - first.length;
      if (more > 0) first = Buffer.concat([first, chunk.subarray(0, more)]);
      if (chunk.length > more)
        last = Buffer.concat([last, chunk.subarray(Math.max(0, more))]).subarray(-keptBytes);
    },
    text() {
      const omitted = bytes - first.length - last.length;
      // A character that is split by a cut becomes a replacement character.
      return omitted === 0
        ? Buffer.concat([first, last]).toString()
        : `${first}\n… ${omitted} bytes left out …\n${last}`;
    },
  };
}

export interface CommandResult {
  /** Null when the command was killed. */
  readonly exit_code: number | null;
  readonly timed_out: boolean;
  /** Both output streams in the order of arrival, cut in the middle. */
  readonly output: string;
}

/** How a program is run. */
export interface ExecuteOptions {
  /** Its working folder. */
  readonly folder: string;
  /** The user and group that it runs as, without other groups; null: those of this process. */
  readonly user: SandboxSettings["user"];
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** The environment of a command: it has nothing of the platform's environment. */
const environment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/tmp",
  LANG: "C.UTF-8",
};
/** The time between SIGTERM and SIGKILL. A container's client passes SIGTERM on. */
const graceMs = 2_000;
/** The longest wait for the streams to close: a process that has left the group may hold them open. */
const streamsMs = 1_000;

/**
 * Runs a program in a new process group. Ends the group when the program exits, when its time is over, and
 * when the signal is aborted.
 *
 * @throws Error when the program cannot be started, and the signal's reason when the signal was aborted.
 */
export async function execute(
  [program = "", ...args]: readonly string[],
  { folder, user, seconds, signal }: ExecuteOptions,
): Promise<CommandResult> {
  const child = spawn(program, args, {
    ...user,
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = outputKeeper();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", output.take).on("error", () => undefined);
  const streamsClosed = once(child, "close").catch(() => undefined);
  // A real timer, not the injected clock: processes run in real time, also in tests.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), seconds * 1000);
  const end = AbortSignal.any([signal, timeout.signal]);
  const ending = () => void endGroup(child);
  end.addEventListener("abort", ending);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    signal.throwIfAborted();
    await endStreams(child, streamsClosed);
    return { exit_code: code, timed_out: timeout.signal.aborted, output: output.text() };
  } finally {
    clearTimeout(timer);
    end.removeEventListener("abort", ending);
    killGroup(child, "SIGKILL");
  }
}

/**
 * Kills the rest of the group, so that it does not write while the folder is read. Then reads the last
 * output.
 */
async function endStreams(child: ChildProcess, streamsClosed: Promise<unknown>): Promise<void> {
  killGroup(child, "SIGKILL");
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, streamsMs);
  await Promise.race([streamsClosed, promise]);
  clearTimeout(timer);
  child.stdout?.destroy();
  child.stderr?.destroy();
}

async function endGroup(child: ChildProcess): Promise<void> {
  killGroup(child, "SIGTERM");
  const timer = setTimeout(() => killGroup(child, "SIGKILL"), graceMs);
  child.once("exit", () => clearTimeout(timer));
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}
