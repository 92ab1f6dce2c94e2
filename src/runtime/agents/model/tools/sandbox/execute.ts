import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { outputKeeper } from "./output.ts";

/** What a command came to. */
export interface Came {
  /** Null when it was ended. */
  readonly exit_code: number | null;
  readonly timed_out: boolean;
  /** What it printed, both streams as they came, cut in the middle. */
  readonly output: string;
}

/** What it may know: nothing of ours. */
const environment = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/tmp", LANG: "C.UTF-8" };
/** Between asking a group to end and ending it; a container's client passes the first on. */
const graceMs = 2_000;
/** What has left its group may hold the streams open. */
const streamsMs = 1_000;

/**
 * Runs a program in a process group of its own, and ends the whole group with it, after its time, or when the signal is
 * aborted.
 *
 * @throws Error when it cannot be started, and the signal's reason when that was aborted.
 */
export async function execute(
  [program = "", ...args]: readonly string[],
  { folder, seconds, signal }: { readonly folder: string; readonly seconds: number; readonly signal: AbortSignal },
): Promise<Came> {
  const child = spawn(program, args, { cwd: folder, env: environment, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const output = outputKeeper();
  for (const stream of [child.stdout, child.stderr]) stream.on("data", output.take).on("error", () => undefined);
  const closed = once(child, "close").catch(() => undefined);
  // Processes are the machine's, and so is their time: no clock of a test moves it.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), seconds * 1000);
  const end = AbortSignal.any([signal, late.signal]);
  const ending = () => void endGroup(child);
  end.addEventListener("abort", ending);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    signal.throwIfAborted();
    await rest(child, closed);
    return { exit_code: code, timed_out: late.signal.aborted, output: output.text() };
  } finally {
    clearTimeout(timer);
    end.removeEventListener("abort", ending);
    killGroup(child, "SIGKILL");
  }
}

/** What is left of the group must not write on while the folder is read; then what was printed last is read. */
async function rest(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  killGroup(child, "SIGKILL");
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, streamsMs);
  await Promise.race([closed, late]);
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
    // Nobody of it is left.
  }
}
