/** The longest pause before a failed round is retried. */
const retryMs = 1_000;

/** The part of a clock that a poll uses. */
interface Sleeper {
  /** Resolves after `ms`; rejects once the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** The same by the time of day. */
  pause?(ms: number, signal: AbortSignal): Promise<void>;
}

/** The part of the process log that a poll uses. */
type LogError = (level: "error", text: string, fields: { readonly cause: unknown }) => void;

/**
 * Runs `work` now, and again `ms` after each end, until the signal is aborted. An error is logged under the function's
 * name, and the next round is the retry: no error ends the poll.
 */
export async function poll(clock: Sleeper, ms: number, signal: AbortSignal, log: LogError, work: () => Promise<void>): Promise<void> {
  const round = () =>
    work().then(
      () => ms,
      (cause: unknown) => {
        log("error", `${work.name || "a polled function"} failed`, { cause });
        return Math.min(ms, retryMs);
      },
    );
  while (!signal.aborted) {
    const pause = await round();
    await (clock.pause ?? clock.sleep)(pause, signal).catch(() => undefined);
  }
}
