import { expect, test } from "vitest";
import { hourMs, type JobNeeds, type TimedJob } from "../../src/core/processes/timed-job.ts";
import { startJobs } from "../../src/jobs/timed.ts";
import { createMetrics } from "../../src/observability/metrics/metrics.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";

const config = { deletedTaskDays: 0, webhookLogDays: 30 };

/** Processes of one installation, and a clock that only the test moves. */
function processesOn({ store }: Pick<TestStore, "store">) {
  const clock = stillClock();
  const logged: string[] = [];
  const stops: (() => Promise<void>)[] = [];
  const { observe, text } = createMetrics({ agentProfiles: {} }, { version: "0.0.0", commit: "" });
  return {
    clock,
    logged,
    metrics: () => text("prometheus", null),
    start(job: TimedJob, processId: string) {
      const log = (_: string, line: string) => void logged.push(line);
      const needs = { store, clock, config, log, observe };
      stops.push(startJobs([job], needs, processId));
    },
    stop: () => Promise.all(stops.splice(0).map((stop) => stop())),
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
}

const counting = (once: boolean, every: number): { readonly job: TimedJob; readonly runs: number[] } => {
  const runs: number[] = [];
  const run = async ({ clock }: JobNeeds) => void runs.push(clock.now());
  return { runs, job: { name: "count", every, run, ...(once && { once }) } };
};

describeOnEach("timed jobs", (kind) => {
  test("run at the start of a process, and after each interval", async () => {
    await using db = await openTestStore(kind);
    await using processes = processesOn(db);
    const { clock, start, stop } = processes;
    const { job, runs } = counting(false, 1_000);
    start(job, "a");
    await expect.poll(() => runs.length).toBe(1);
    await clock.advance(1_000);
    await expect.poll(() => runs.length).toBe(2);
    await stop();
    await clock.advance(5_000);
    expect(runs).toHaveLength(2);
  });

  test("of the installation run in one of three processes in each interval", async () => {
    await using db = await openTestStore(kind);
    await using processes = processesOn(db);
    const { clock, start, stop, metrics } = processes;
    const { job, runs } = counting(true, hourMs);
    for (const id of ["a", "b", "c"]) start(job, id);
    for (let hour = 1; hour <= 5; hour += 1) {
      // All processes have finished their round.
      await expect.poll(() => clock.sleeping).toBe(3);
      await clock.advance(hourMs);
      await expect.poll(() => runs.length).toBe(hour + 1);
    }
    await stop();
    expect(runs).toHaveLength(6);
    expect(await metrics()).toContain('atp_jobs_total{kind="count",outcome="done"} 6');
  });

  test("of a process that has ended are done by another one", async () => {
    await using db = await openTestStore(kind);
    await using processes = processesOn(db);
    const { clock, start, stop } = processes;
    const { job, runs } = counting(true, hourMs);
    start(job, "a");
    await expect.poll(() => runs.length).toBe(1);
    await stop();
    start(job, "b");
    await clock.advance(2 * hourMs);
    await expect.poll(() => runs.length).toBe(2);
    await stop();
  });

  test("that fail are logged by name, counted, and run again within a second", async () => {
    await using db = await openTestStore(kind);
    await using processes = processesOn(db);
    const { clock, logged, start, stop, metrics } = processes;
    let attempts = 0;
    const run = async () => {
      attempts += 1;
      if (attempts === 1) throw new Error("no database");
    };
    start({ name: "fails-once", every: hourMs, once: true, run }, "a");
    await expect.poll(() => logged).toEqual(["fails-once failed"]);
    expect(await metrics()).toContain('atp_jobs_total{kind="fails-once",outcome="failed"} 1');
    await clock.advance(1_000);
    await expect.poll(() => attempts).toBe(2);
    await stop();
  });

  test("show the time since they were last done", async () => {
    await using db = await openTestStore(kind);
    await using processes = processesOn(db);
    const { clock, start, stop, metrics } = processes;
    start({ name: "never-done", every: 60_000, run: () => Promise.reject(new Error("no database")) }, "a");
    await clock.advance(500_000);
    expect(await metrics()).toContain('atp_job_success_age_seconds{kind="never-done"} 500');
    expect(await metrics()).toContain('atp_job_interval_seconds{kind="never-done"} 60');
    await stop();
  });

  test("give a turn to one of twenty that ask at once, and also after the time was set back", async () => {
    await using db = await openTestStore(kind);
    const take = (now: number) => db.store.change((tx) => tx.settings.takeTurn("job race", now, hourMs));
    const taken = await Promise.all(Array.from({ length: 20 }, () => take(10 * hourMs)));
    expect(taken.toSorted()).toEqual([0, ...Array.from({ length: 19 }, () => hourMs)]);
    expect(await take(10 * hourMs + 1)).toBe(hourMs - 1);
    expect(await take(10 * hourMs - 5), "a process whose clock is late").toBe(hourMs + 5);
    expect(await take(11 * hourMs)).toBe(0);
    expect(await take(5 * hourMs)).toBe(0);
  });
});
