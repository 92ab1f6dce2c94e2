import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, systemClock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Random } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { type Observe, secondsSince, unobserved } from "../core/observe.ts";
import { attributes } from "../core/span-names.ts";
import type { Tx } from "../core/store.ts";
import type { ReadSegment } from "../core/tasks/segment.ts";
import { currentSpan, runInSpan, type SpanStart, traced } from "../core/trace.ts";
import type { Client } from "./client.ts";
import { driverFailure, maxRetries } from "./driver-failure.ts";
import type { NotifiedFeed } from "./news.ts";
import { rowsOf } from "./rows.ts";
import { type Change, type JobRowsOf, newChange } from "./session.ts";
import { type Dialect, ProgrammingError, type Statements } from "./statements.ts";
import type { Transact } from "./transactions.ts";

/** The parts of a database that changes use. */
export interface Writer {
  readonly client: () => Promise<Client>;
  readonly dialect: Dialect;
  readonly jobs: JobRowsOf;
  readonly readSegment: ReadSegment;
  /** Every write must use it: otherwise SQLite loses acknowledged writes. */
  readonly transact: Transact;
}

interface ChangeParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly feed: NotifiedFeed;
  /** Reports failures after a commit, which can no longer be rolled back. */
  readonly afterwards: (thrown: unknown) => void;
  /** A change that takes longer is rolled back. */
  readonly changeMs: number;
  readonly observe?: Pick<Observe, "changed">;
  /** Receives the time of each change at `debug`. */
  readonly log?: Log | undefined;
}

/** One run of a change's work: whether it is in progress, what it collects, and what it threw. */
interface Run {
  open: boolean;
  thrown: unknown;
  readonly change: Change;
}

interface Done<T> {
  readonly result: T;
  readonly change: Change;
}

const changeSpans: Readonly<Record<Dialect, SpanStart>> = {
  sqlite: { name: "change", kind: "client", attributes: attributes({ database: "sqlite" }) },
  postgresql: { name: "change", kind: "client", attributes: attributes({ database: "postgresql" }) },
};

/**
 * The longest time for retries of a change, on the system's clock. PostgreSQL needs one second to detect a
 * deadlock of two changes.
 */
const retryMs = 15_000;

/** Runs a change, as the store's `change` does. */
export type RunChange = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * Creates the function that runs changes: one transaction at a time on SQLite, retried after conflicts. Four
 * functions are around the work of a change: `change`, `runRepeatedly`, the backend's `transact`, and the one
 * run within it.
 */
export function createChangeRunner(
  writer: Writer,
  { clock, random, feed, afterwards, changeMs, observe = unobserved, log }: ChangeParts,
): RunChange {
  const { client, dialect, jobs, transact, readSegment } = writer;
  const currentRun = new AsyncLocalStorage<Run>();

  /**
   * @param onRun is called with each run: a change whose commit was lost runs again, and the earlier run does
   * not count.
   */
  const runOnce = <T>(work: (tx: Tx) => Promise<T>, onRun: (run: Run) => void): Promise<Done<T>> =>
    transact(async (statements) => {
      const run: Run = { open: true, thrown: undefined, change: newChange(clock.now()) };
      onRun(run);
      try {
        const inside = whileOpen(statements, run);
        const tx = rowsOf(
          { ...inside, scans: inside, db: client, dialect, change: run.change, readSegment },
          jobs,
        );
        return {
          result: await withTimeout(
            currentRun.run(run, () => work(tx)),
            changeMs,
          ),
          change: run.change,
        };
      } catch (thrown) {
        run.thrown = thrown;
        throw thrown;
      } finally {
        run.open = false;
      }
    });

  /** The run that succeeded. Failed runs before it leave nothing. */
  async function runRepeatedly<T>(work: (tx: Tx) => Promise<T>): Promise<Done<T>> {
    const started = systemClock.monotonic();
    for (let attempt = 1; ; attempt += 1) {
      let last: Run | undefined;
      try {
        return await runOnce(work, (run) => {
          undo(last);
          last = run;
        });
      } catch (thrown) {
        undo(last);
        const mayRetry = attempt <= maxRetries(thrown) && systemClock.monotonic() - started < retryMs;
        if (!mayRetry) throw driverFailure(thrown, last?.thrown);
        await systemClock.sleep(backoffMs(attempt, random));
      }
    }
  }

  /** Reports how a change ends, and its time. */
  async function measured<T>(running: Promise<T>): Promise<T> {
    const start = performance.now();
    let outcome: "committed" | "failed" = "failed";
    try {
      const done = await running;
      outcome = "committed";
      return done;
    } finally {
      const seconds = secondsSince(start);
      observe.changed(outcome, seconds);
      log?.("debug", "change", { outcome, ms: Math.round(seconds * 1000) });
    }
  }

  return async function change(work) {
    if (currentRun.getStore()?.open)
      throw new ProgrammingError("a change within a change: pass on its tx instead");
    // Changes are committed in groups: the work of each must not run in the span of another.
    const caller = currentSpan();
    const inCallersSpan = (tx: Tx) => runInSpan(caller, () => work(tx));
    const { result, change } = await traced(changeSpans[dialect], () =>
      measured(runRepeatedly(inCallersSpan)),
    );
    // What the commit wakes is not part of the work that has committed.
    runInSpan(undefined, () => feed.publish(change));
    for (const follow of change.after) await Promise.try(follow).catch(afterwards);
    return result;
  };
}

/** Undoes what the work of a run that does not count did in memory. */
function undo(run: Run | undefined): void {
  for (const back of run?.change.undo ?? []) back();
}

/** Ensures that a leaked tx, or work that timed out, cannot write into a later change. */
function whileOpen({ query, execute, write }: Statements, run: Run): Statements {
  const check = (): void => {
    if (!run.open) throw new ProgrammingError("the change is over");
  };
  return {
    async query(statement) {
      check();
      return query(statement);
    },
    async execute(statement) {
      check();
      return execute(statement);
    },
    async write(statement) {
      check();
      return write(statement);
    },
  };
}

/**
 * Rejects after `ms`, which rolls the change back: work that never ends would block
 * all other changes. It uses the system's timer.
 */
async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Failure("unavailable", "the change took too long, try again", { retryAfter: 1 })),
    ms,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A random delay up to 10, 20, 40, … 160 ms, so that conflicting changes do not conflict again. */
export function backoffMs(attempt: number, random: Random): number {
  const [byte = 0] = random(1);
  return ((1 + byte) / 256) * 10 * 2 ** Math.min(attempt - 1, 4);
}
