import { setTimeout as sleep } from "node:timers/promises";

/** What an open loop showed besides the answers. */
export interface OpenLoop {
  /** Calls without an answer when the patience was over. */
  readonly unanswered: number;
  /** How late the last call began (milliseconds): a caller that cannot keep up measures itself. */
  readonly latestMs: number;
}

/** How long answers may come after the last call (milliseconds). */
const patienceMs = 30_000;

/**
 * Makes each call at its time, whether or not earlier calls were answered.
 *
 * @param times milliseconds from the start, in order.
 * @param call must not reject; `elapsedMs` returns the time since the planned time of the call, so a late
 * call is not faster.
 */
export async function openLoop(
  times: readonly number[],
  call: (index: number, elapsedMs: () => number) => Promise<void>,
): Promise<OpenLoop> {
  const open = new Set<Promise<void>>();
  const startedAt = performance.now();
  let latestMs = 0;
  for (const [index, at] of times.entries()) {
    const elapsedMs = () => performance.now() - startedAt - at;
    if (elapsedMs() < -1) await sleep(-elapsedMs());
    latestMs = Math.max(latestMs, elapsedMs());
    const made = call(index, elapsedMs).finally(() => open.delete(made));
    open.add(made);
  }
  await Promise.race([Promise.all(open), sleep(patienceMs, undefined, { ref: false })]);
  return { unanswered: open.size, latestMs };
}
