import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createPost, createTask } from "./post.ts";

/**
 * Faults of a platform after its last call: an empty list when it is alive and holds nothing for disconnected
 * clients.
 */
export async function faultsAfterRun(
  url: string,
  key: string,
  watchLimit: number,
): Promise<readonly string[]> {
  const status = await fetch(`${url}/livez`).then(
    (reply) => reply.status,
    () => null,
  );
  return status === 200 ? faultsOfSlots(url, key, watchLimit) : [`/livez answers ${status ?? "nothing"}`];
}

/** The server may need a moment to notice that a client has disconnected; each try takes a second. */
const triesMax = 5;

/** The maximum of held calls at once: each gets a slot, unless an earlier slot was not released. */
async function faultsOfSlots(url: string, key: string, watchLimit: number): Promise<readonly string[]> {
  const post = createPost(url, key);
  const held = { task_id: await createTask(post, "Hello"), after_seq: 1_000_000, wait_seconds: 1 };
  for (let left = triesMax; left > 0; left--) {
    const answers = await Promise.all(Array.from({ length: watchLimit }, () => post("task.detail", held)));
    if (answers.every(({ ok }) => ok === true)) return [];
  }
  return ["held calls or watches are open without a client"];
}

/**
 * A drain waits for open calls and connections; without them it takes hardly any time, even on a busy
 * machine.
 */
const drainMs = 30_000;

/** Asks a server to drain; returns the faults of its end. */
export async function faultsOfStop(child: ChildProcess): Promise<readonly string[]> {
  if (child.exitCode !== null || child.signalCode !== null)
    return [`the process is dead: ${child.exitCode ?? child.signalCode}`];
  const ended = once(child, "exit", { signal: AbortSignal.timeout(drainMs) });
  child.kill("SIGTERM");
  try {
    const [code] = await ended;
    return code === 0 ? [] : [`the process ended with ${code}`];
  } catch {
    return [`the process has not drained after ${drainMs} ms: something is left open`];
  }
}
