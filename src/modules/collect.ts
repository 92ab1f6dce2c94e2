import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../core/clock.ts";

/** How long a process must have been idle. */
const idleMs = 10_000;
/** The part of that time that an idle process may spend in its polls. */
const busyMax = 0.1;

/** What `collectOnceIdle` uses of the process. */
interface Process {
  /** The part of the time since the last call that the event loop was busy, from 0 to 1. */
  readonly busyShare: () => number;
  readonly collect: () => void;
}

/**
 * Collects the garbage of the start once, as soon as the process was idle for 10 seconds. V8 would keep it
 * until calls need the space, which an idle process may never have. The collection stops the process for 0.1
 * to 0.3 s of CPU time. The signal ends the wait.
 */
export async function collectOnceIdle(
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
  { busyShare = loopShare(), collect = collectAll }: Partial<Process> = {},
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(idleMs, signal).catch(() => undefined);
    if (signal.aborted || busyShare() > busyMax) continue;
    return collect();
  }
}

function loopShare(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

/** Frees all memory that V8 can free. */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  // Only contexts that are made from here on have the function.
  runInNewContext("gc({ type: 'major', flavor: 'last-resort' })");
  setFlagsFromString("--no-expose-gc");
}
