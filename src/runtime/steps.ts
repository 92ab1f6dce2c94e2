import { together } from "../async/together.ts";
import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Staging } from "../core/files/staging.ts";
import type { Log } from "../core/log.ts";
import type { Store, Tx } from "../core/store.ts";
import type { Agent, Outcome, Progress, Turn } from "./agent.ts";
import { RunDrained } from "./model-calls.ts";

/** This process has lost the run: another process holds the fence, or the task was stopped. */
export class RunLost extends Error {}

/** The longest time that an agent may take to clean up. */
const cleanUpMs = 5_000;

/** The steps of an agent that works on a turn until the turn's signal is aborted. */
export interface Steps<File> {
  /**
   * Returns the next events, or the outcome. An error of the agent is an outcome too.
   *
   * @throws RunLost as soon as the turn's signal is aborted, even while the agent still works.
   */
  next(): Promise<IteratorResult<Progress<File>, Outcome<File>>>;
  /** Lets an agent that has not ended clean up, for at most 5 s. */
  close(): Promise<void>;
}

/** Starts an agent on a turn. */
export function agentSteps<File>(
  agent: Agent<File>,
  turn: Turn,
  { clock, log }: { clock: Clock; log: Log },
): Steps<File> {
  const { signal, taskId } = turn;
  const events = agent(turn);
  let done = false;

  async function step(): Promise<IteratorResult<Progress<File>, Outcome<File>>> {
    try {
      return await events.next();
    } catch (cause) {
      if (signal.aborted) throw new RunLost();
      if (cause instanceof RunDrained) return { done: true, value: { kind: "abandon" } };
      // The agent is not at fault when its files cannot be stored for a while: the run is retried.
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
      if (!(await resolvesWithin(clock, cleanUpMs, cleaned)))
        log("warn", "an agent did not clean up in time", { taskId });
    },
  };
}

/** Returns the result of `work`. @throws RunLost when the signal is aborted before. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(new RunLost());
  if (signal.aborted) throw new RunLost();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** True when `work` resolved before the time was over. */
async function resolvesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const cancelTimeout = new AbortController();
  const timeout = clock.sleep(ms, cancelTimeout.signal).then(
    () => false,
    () => true,
  );
  const inTime = await Promise.race([work.then(() => true), timeout]);
  cancelTimeout.abort();
  return inTime;
}

/** The extra steps of each change for a run that is held by a lease in the store. */
export interface RunGuard<Result> {
  /**
   * Runs first and locks the run, so that two calls of a worker run sequentially. Returns false when the run
   * is lost.
   */
  lock(tx: Tx): Promise<boolean>;
  /** Runs last. The change returns its result. */
  after(tx: Tx, result: Result): Promise<Result>;
  /** Keeps a file of the run as an artifact of the task, instead of `Staging.keepArtifact`. */
  readonly keepArtifact?: Staging["keepArtifact"];
}

/** No extra steps: only the fence of its task protects a run of this process. */
export const fenceOnly = {
  lock: async (): Promise<boolean> => true,
  after: async <R>(_: Tx, result: R): Promise<R> => result,
};

/** Makes one change for a run. @throws RunLost when `held` cannot lock the run. */
export const changeRun = <R>(
  store: Pick<Store, "change">,
  held: RunGuard<R>,
  work: (tx: Tx) => Promise<R>,
): Promise<R> =>
  store.change(async (tx) => {
    // The lock is sent before the work's statements, in the same round trip to PostgreSQL. If it fails, the
    // change is rolled back.
    const [, result] = await together(lockRun(tx, held), work(tx));
    return held.after(tx, result);
  });

async function lockRun(tx: Tx, { lock }: Pick<RunGuard<unknown>, "lock">): Promise<void> {
  if (!(await lock(tx))) throw new RunLost();
}
