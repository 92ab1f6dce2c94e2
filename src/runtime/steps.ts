import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Log } from "../core/log.ts";
import type { Agent, Outcome, Progress, Turn } from "./agent.ts";

/** The run is no longer ours: somebody else holds the fence, or the task was stopped. */
export class Lost extends Error {}

/** How long an agent may take to clean up. */
const cleanUpMs = 5_000;

/** An agent at work on a turn, held to its signal. */
export interface Steps<File> {
  /**
   * The next events, or the outcome. A fault of the agent is an outcome too.
   *
   * @throws Lost as soon as the turn's signal is aborted, whatever the agent does meanwhile.
   */
  next(): Promise<IteratorResult<Progress<File>, Outcome<File>>>;
  /** Lets an agent that is not done clean up, for a while. */
  close(): Promise<void>;
}

/** Sets an agent to work on a turn. */
export function stepsOf<File>(agent: Agent<File>, turn: Turn, { clock, log }: { readonly clock: Clock; readonly log: Log }): Steps<File> {
  const { signal, taskId } = turn;
  const events = agent(turn);
  let done = false;

  async function step(): Promise<IteratorResult<Progress<File>, Outcome<File>>> {
    try {
      return await events.next();
    } catch (cause) {
      if (signal.aborted) throw new Lost();
      // That its files cannot be written down for a while is no fault of the agent's: the run is taken up again.
      if (cause instanceof Failure && cause.reason === "unavailable") throw cause;
      log("error", "an agent failed", { taskId, cause });
      return { done: true, value: { kind: "fail", errorType: "internal", content: "The agent failed." } };
    }
  }

  return {
    async next() {
      const result = await unlessAborted(signal, step);
      done = result.done ?? false;
      return result;
    },
    async close() {
      if (done) return;
      const cleaned = events
        .return({ kind: "abandon" })
        .catch((cause: unknown) => log("warn", "an agent failed to clean up", { taskId, cause }));
      if (!(await within(clock, cleanUpMs, cleaned))) log("warn", "an agent did not clean up in time", { taskId });
    },
  };
}

/** What `work` gives, unless the signal is aborted before. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(new Lost());
  if (signal.aborted) throw new Lost();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** True when `work` settled before the time was up. */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const early = new AbortController();
  const late = clock.sleep(ms, early.signal).then(
    () => false,
    () => true,
  );
  const inTime = await Promise.race([work.then(() => true), late]);
  early.abort();
  return inTime;
}
