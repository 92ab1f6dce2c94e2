import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createdTask, posting } from "./post.ts";

/** What is wrong with a platform that nobody calls any more: an empty list when it lives and keeps nothing for those who are gone. */
export async function flawsAfterwards(url: string, key: string, watchLimit: number): Promise<readonly string[]> {
  const status = await fetch(`${url}/livez`).then(
    (reply) => reply.status,
    () => null,
  );
  return status === 200 ? flawsOfPlaces(url, key, watchLimit) : [`/livez answers ${status ?? "nothing"}`];
}

/** It may take a moment until the server has noticed that a client is gone; each try is a second long. */
const triesMax = 5;

/** As many held calls at once as there may be: each finds a place, unless an earlier one was not given back. */
async function flawsOfPlaces(url: string, key: string, watchLimit: number): Promise<readonly string[]> {
  const post = posting(url, key);
  const held = { task_id: await createdTask(post, "Hello"), after_seq: 1_000_000, wait_seconds: 1 };
  for (let left = triesMax; left > 0; left--) {
    const answers = await Promise.all(Array.from({ length: watchLimit }, () => post("task.detail", held)));
    if (answers.every(({ ok }) => ok === true)) return [];
  }
  return ["held calls or watches are open that nobody waits for"];
}

/** A drain waits for open calls and connections; when there are none it takes hardly any time, even on a busy machine. */
const drainMs = 30_000;

/** Asks a server to drain; the answer says what is wrong with how it ended. */
export async function flawsOfStop(child: ChildProcess): Promise<readonly string[]> {
  if (child.exitCode !== null || child.signalCode !== null) return [`the process is dead: ${child.exitCode ?? child.signalCode}`];
  const ended = once(child, "exit", { signal: AbortSignal.timeout(drainMs) });
  child.kill("SIGTERM");
  try {
    const [code] = await ended;
    return code === 0 ? [] : [`the process ended with ${code}`];
  } catch {
    return [`the process has not drained after ${drainMs} ms: something is left open`];
  }
}
