import { startWatchdog, type Watchdog } from "./watchdog.ts";

/** Runs a step of the end under a name, which the log has if the step does not end in time. */
export type Step = <Result>(name: string, work: Promise<Result>) => Promise<Result>;

/** A step without a name. */
export const unnamed: Step = (_name, work) => work;

export interface Ending {
  /** Resolves at the first SIGTERM, SIGINT or SIGHUP. */
  readonly asked: Promise<void>;
  readonly step: Step;
}

/**
 * The same signal again within this time is the same request: npm passes on Ctrl+C, and a closed terminal
 * sends several SIGHUP.
 */
const repeatMs = 1_000;
/** The time for the other threads when a second signal ends the process. */
const exitMs = 1_000;

/**
 * Handles the signals from here on. The first one asks for the end, and starts a thread that kills the
 * process after `limitMs`. A second one ends the process at once with code 1.
 */
export function awaitEnd(
  limitMs: number,
  onError: (cause: unknown) => void,
  exit: (code: number) => never,
): Ending {
  const { promise, resolve } = Promise.withResolvers<void>();
  const open = new Set<string>();
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  let watchdog: Watchdog | undefined;

  function hear(signal: NodeJS.Signals): void {
    if (first === undefined) {
      first = { signal, at: performance.now() };
      watchdog = startWatchdog(limitMs, onError);
      resolve();
    } else if (signal !== first.signal || performance.now() - first.at > repeatMs) {
      watchdog?.tell({ endMs: exitMs });
      void watchdog?.endOthers().then(() => exit(1));
    }
  }

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, hear);
  return {
    asked: promise,
    async step(name, work) {
      open.add(name);
      watchdog?.tell({ open: [...open] });
      try {
        return await work;
      } finally {
        open.delete(name);
        watchdog?.tell({ open: [...open] });
      }
    },
  };
}
