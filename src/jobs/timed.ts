import { createHash } from "node:crypto";
import { limitConcurrency } from "../async/limit.ts";
import { poll } from "../async/poll.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { type Observe, unobserved } from "../core/observe.ts";
import type { JobNeeds, TimedJob } from "../core/processes/timed-job.ts";

interface RunnerNeeds {
  readonly clock: Clock;
  readonly log: Log;
  readonly observe?: Pick<Observe, "timedJobEnded" | "timedJob">;
}

/**
 * The longest time by which processes that start together do a job apart, as a part of its interval and in
 * milliseconds.
 */
const jitter = { part: 0.05, maxMs: 180_000 };

/**
 * Jobs of the installation that one process does at a time: most are due when a process starts, and calls
 * come first.
 */
const atOnce = 2;

/**
 * Starts the timed jobs of a process: each runs now, and again after its interval, until they are stopped. Of
 * a job with `once`, one process of the installation does each run.
 *
 * @param processId decides how much earlier a job of this process runs.
 * @returns a function that stops the jobs, and resolves when those in progress have ended.
 */
export function startJobs<Needs extends JobNeeds>(
  jobs: readonly TimedJob<Needs>[],
  needs: Needs & RunnerNeeds,
  processId: string,
): () => Promise<void> {
  const { clock, log } = needs;
  const stopping = new AbortController();
  const limited = limitConcurrency(atOnce);
  const loops = jobs.map((job) => {
    const apart = jitterMs(job, processId);
    const run = observedJob(job, needs, stopping.signal);
    const round = async () => {
      const untilDue = await (job.once ? limited(async () => (stopping.signal.aborted ? 0 : run())) : run());
      return untilDue === 0 ? job.every : untilDue + apart;
    };
    return poll(clock, job.every, stopping.signal, log, round, job.name);
  });
  return async () => {
    stopping.abort();
    await Promise.all(loops);
  };
}

/** The same at each run of a process. */
function jitterMs({ name, every }: Pick<TimedJob, "name" | "every">, processId: string): number {
  const random = createHash("sha256").update(`${processId} ${name}`).digest().readUInt32BE() / 2 ** 32;
  return Math.floor(random * Math.min(every * jitter.part, jitter.maxMs));
}

/**
 * A run, measured; it returns how long a job is not due. One that another process does in this interval
 * counts as done.
 */
function observedJob<Needs extends JobNeeds>(
  job: TimedJob<Needs>,
  needs: Needs & RunnerNeeds,
  signal: AbortSignal,
): () => Promise<number> {
  const { clock, observe = unobserved } = needs;
  let doneAt = clock.monotonic();
  observe.timedJob(job.name, job.every / 1_000, () => (clock.monotonic() - doneAt) / 1_000);
  return async () => {
    const startedAt = clock.monotonic();
    let untilDue: number | null = null;
    const ended = (outcome: "done" | "failed") =>
      observe.timedJobEnded(job.name, outcome, (clock.monotonic() - startedAt) / 1_000);
    try {
      untilDue = await takeTurn(job, needs);
      if (untilDue === 0) {
        await job.run(needs, signal);
        ended("done");
      }
      doneAt = clock.monotonic();
      return untilDue;
    } catch (thrown) {
      ended("failed");
      if (untilDue === 0) await giveTurn(job, needs);
      throw thrown;
    }
  };
}

async function takeTurn(
  { name, every, once }: Omit<TimedJob, "run">,
  { store, clock }: JobNeeds,
): Promise<number> {
  return once ? store.change((tx) => tx.settings.takeTurn(`job ${name}`, clock.now(), every)) : 0;
}

/** Makes a job that has failed due again, for any process. */
async function giveTurn(
  { name, once }: Pick<TimedJob, "name" | "once">,
  { store, clock }: JobNeeds,
): Promise<void> {
  if (once) await store.change((tx) => tx.settings.put(`job ${name}`, `${clock.now()}`));
}
