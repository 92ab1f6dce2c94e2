/** The longest pause before a failed round is retried. */
const retryMs = 1_000;

/** The part of a clock that a poll uses. */
export interface Sleeper {
  /** Resolves after `ms`; rejects once the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** The same by the time of day. */
  pause?(ms: number, signal: AbortSignal): Promise<void>;
}

export type LogError = (level: "error", text: string, fields: { readonly cause: unknown }) => void;

/**
 * Runs `work` now, and again `ms` after each end, or after the milliseconds that it returns, until the signal
 * is aborted. An error is logged under `name`, and the next round is the retry: no error ends the poll.
 */
export async function poll(
  clock: Sleeper,
  ms: number,
  signal: AbortSignal,
  log: LogError,
  work: () => Promise<unknown>,
  name = work.name || "a polled function",
): Promise<void> {
  const round = () =>
    work().then(
      (pause) => (typeof pause === "number" ? pause : ms),
      (cause: unknown) => {
        log("error", `${name} failed`, { cause });
        return Math.min(ms, retryMs);
      },
    );
  while (!signal.aborted) {
    const pause = await round();
    await (clock.pause ?? clock.sleep)(pause, signal).catch(() => undefined);
  }
}
