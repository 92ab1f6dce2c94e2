import { ApiError } from "../errors.ts";
import type { Run } from "../generated/worker.ts";
import { environment, randomHex, sleep } from "../runtime.ts";
import { type ClientOptions, transport } from "../transport.ts";
import { batchAppends } from "./appends.ts";
import { RunLostError, workerCall } from "./calls.ts";
import { sharePolls } from "./polls.ts";
import { type OpenTurn, openTurn, type Turn, TurnFailure, type TurnResult } from "./turn.ts";

/**
 * Works on one turn. It runs again from its beginning after a crash, and after each question, approval and
 * wait of the turn.
 */
export type Agent = (turn: Turn) => Promise<TurnResult> | TurnResult;

export interface WorkerOptions
  extends Pick<ClientOptions, "baseUrl" | "fetch" | "sleep" | "logger" | "logLevel"> {
  /** The worker's credential (`wk-…`). Default: the environment variable `WORKER_KEY`. */
  readonly workerKey?: string | undefined;
  /**
   * How many runs this process works on at the same time, 1 by default. One call asks for runs for all free
   * places.
   */
  readonly concurrency?: number | undefined;
  /** Labels of this machine; default: those of the credential. */
  readonly labels?: readonly string[] | undefined;
  /**
   * Milliseconds that runs have to finish when the worker stops; then they are released. 5,000 by default.
   */
  readonly drainMs?: number | undefined;
  /** Whether SIGTERM and SIGINT stop the worker, true by default. */
  readonly signals?: boolean | undefined;
  /**
   * Called with errors of the agent and of the platform, instead of the log. Users see the `reference` of an
   * error of the agent.
   */
  readonly onError?: ((error: unknown, taskId: string, reference?: string) => void) | undefined;
}

export interface Worker {
  /**
   * Runs an agent for tasks of these profiles, until the worker is stopped. An empty list: all profiles of
   * the credential. @throws ApiError when the credential is refused
   */
  run(profiles: string | readonly string[], agent: Agent): Promise<void>;
  /** Stops taking runs. `run` returns when the present ones have finished or are released. */
  stop(): void;
}

const pollSeconds = 30;
/** Held calls have this long after their time. */
const graceMs = 15_000;
/** The pause after a lost answer: a lease has 15 s. */
const longestPauseMs = 1500;

/** A worker. It calls the platform, and needs no address. */
export function createWorker(options: WorkerOptions = {}): Worker {
  const { concurrency = 1, labels = [], drainMs = 5000 } = options;
  const headers = { "x-api-key": options.workerKey ?? environment("WORKER_KEY") ?? "" };
  const baseUrl = options.baseUrl ?? environment("ATP_URL") ?? "";
  const retries = Number.POSITIVE_INFINITY;
  // The key of a user that the environment may have is not sent.
  const http = transport(
    { ...options, baseUrl, apiKey: "", headers, retries },
    { longestMs: longestPauseMs, logLevel: "info" },
  );
  const call = batchAppends(workerCall(http));
  const leaving = new AbortController();
  const gone = new AbortController();

  function report(error: unknown, taskId: string, reference?: string): void {
    if (options.onError) options.onError(error, taskId, reference);
    else http.log.error(`task ${taskId}${reference === undefined ? "" : `, reference ${reference}`}:`, error);
  }

  /** Users see a reference to the log, because the text of an error can have names, paths and secrets. */
  function failed(error: unknown, taskId: string): TurnResult {
    const reference = randomHex(6);
    report(error, taskId, reference);
    return { fail: { errorType: "internal", content: `The agent failed (reference ${reference}).` } };
  }

  function stop(): void {
    if (leaving.signal.aborted) return;
    leaving.abort(new RunLostError("the worker stops"));
    const timer = setTimeout(() => gone.abort(new RunLostError("the worker stops")), drainMs);
    (timer as { unref?: () => void }).unref?.();
  }

  async function poll(profiles: readonly string[], max: number): Promise<readonly Run[]> {
    try {
      const request = { waitSeconds: pollSeconds, profiles, labels, ...(max > 1 ? { maxRuns: max } : {}) };
      const { run: first, moreRuns = [] } = await call("Poll", request, {
        signal: leaving.signal,
        timeoutMs: pollSeconds * 1000 + graceMs,
      });
      return first ? [first, ...moreRuns] : [];
    } catch (error) {
      if (leaving.signal.aborted) return [];
      throw error;
    }
  }

  /** Renews the lease, and ends the run when it belongs to another worker or is stopped. */
  async function sendHeartbeats(turn: OpenTurn, over: AbortController, ended: AbortSignal): Promise<void> {
    const { taskId = "", fence = 0, leaseSeconds = 15 } = turn.run;
    let known = 0;
    for (;;) {
      await sleep((leaseSeconds * 1000) / 3, ended);
      const { stop: reason = "", newMessages = [] } = await call(
        "Heartbeat",
        { taskId, fence },
        { signal: ended },
      );
      turn.receive(newMessages.slice(known));
      known = newMessages.length;
      if (reason !== "") return over.abort(new RunLostError(`the run is over: ${reason}`));
    }
  }

  /** What the agent made of the turn. @throws RunLostError when the run is over */
  async function resultOf(turn: OpenTurn, agent: Agent): Promise<TurnResult> {
    try {
      const result = await agent(turn);
      turn.signal.throwIfAborted();
      return turn.suspended()?.ending ?? result;
    } catch (error) {
      turn.signal.throwIfAborted();
      const waits = turn.suspended();
      if (waits) return waits.ending;
      if (error instanceof TurnFailure) {
        http.log.info(`task ${turn.taskId}: the agent ends it with ${error.errorType}: ${error.message}`);
        return { fail: { errorType: error.errorType, content: error.message || error.errorType } };
      }
      // A signal to the process ends the agent's own processes too: another worker does better.
      if (!leaving.signal.aborted) return failed(error, turn.taskId);
      report(error, turn.taskId);
      throw new RunLostError("the worker stops", { cause: error });
    }
  }

  /** Ends the run. A result that the platform refuses fails the turn: the log has the reason. */
  async function finish(turn: OpenTurn, result: TurnResult): Promise<Run | undefined> {
    try {
      return (await call("Finish", turn.endingOf(result), { signal: gone.signal })).run;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      return (await call("Finish", turn.endingOf(failed(error, turn.taskId)), { signal: gone.signal })).run;
    }
  }

  /** Works on one run. Returns the next one if the platform has it already. */
  async function serve(run: Run, agent: Agent): Promise<Run | undefined> {
    const [over, ended] = [new AbortController(), new AbortController()];
    const release = () => over.abort(gone.signal.reason);
    gone.signal.addEventListener("abort", release, { once: true });
    const turn = openTurn(http, call, run, over);
    const heartbeats = sendHeartbeats(turn, over, ended.signal).catch((error: unknown) => {
      if (!ended.signal.aborted) over.abort(error);
    });
    try {
      return await finish(turn, await resultOf(turn, agent));
    } catch (error) {
      if (!(error instanceof RunLostError)) report(error, turn.taskId);
      const { taskId = "", fence = 0 } = run;
      // Another worker continues at once.
      if (leaving.signal.aborted)
        await call("Release", { taskId, fence }, { retries: 2 }).catch(() => undefined);
      return undefined;
    } finally {
      ended.abort();
      over.abort(new RunLostError("the run has ended"));
      gone.signal.removeEventListener("abort", release);
      await heartbeats;
    }
  }

  async function work(take: () => Promise<Run | undefined>, agent: Agent): Promise<void> {
    let next: Run | undefined;
    while (next || !leaving.signal.aborted) {
      next ??= await take();
      if (next) next = await serve(next, agent);
    }
  }

  async function run(profiles: string | readonly string[], agent: Agent): Promise<void> {
    const names = (typeof profiles === "string" ? [profiles] : profiles).filter(Boolean);
    const { process } = globalThis as {
      readonly process?: {
        on?(name: string, listener: () => void): void;
        off?(name: string, listener: () => void): void;
      };
    };
    const watched = options.signals === false ? [] : ["SIGTERM", "SIGINT"];
    for (const name of watched) process?.on?.(name, stop);
    try {
      const take = sharePolls((max) => poll(names, max));
      await Promise.all(Array.from({ length: concurrency }, () => work(take, agent)));
    } finally {
      stop();
      for (const name of watched) process?.off?.(name, stop);
    }
  }

  return { run, stop };
}
