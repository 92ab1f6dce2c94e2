import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Random } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";
import { driverFailure, repetitions } from "./driver-failure.ts";
import type { ToldFeed } from "./feed.ts";
import { Misuse } from "./misuse.ts";
import { rowsOf } from "./rows.ts";
import { type Change, type Client, type Dialect, type JobRowsOf, newChange } from "./session.ts";
import type { Statements } from "./statements.ts";
import type { Transact } from "./transactions.ts";

/** What changes need of a database. */
export interface Writer {
  readonly client: Client;
  readonly dialect: Dialect;
  readonly jobs: JobRowsOf;
  /** Covers every write there is: without it SQLite loses acknowledged ones. */
  readonly transact: Transact;
}

interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly feed: ToldFeed;
  /** Told of what fails after a commit, when there is no way back. */
  readonly afterwards: (thrown: unknown) => void;
  /** A change that takes longer is rolled back. */
  readonly changeMs: number;
}

/** One run of a change's work: whether it is under way, what it collects, and what it threw. */
interface Run {
  open: boolean;
  thrown: unknown;
  readonly change: Change;
}

/** What a change came to. */
interface Done<T> {
  readonly result: T;
  readonly change: Change;
}

/** A change is tried again for so long at most; PostgreSQL takes a second to see that two changes block each other. */
const patienceMs = 15_000;

/** Makes the store's `change`: one transaction at a time on SQLite, repeated where another was first. */
export function changer(writer: Writer, { clock, random, feed, afterwards, changeMs }: Surroundings): Store["change"] {
  const { client: db, dialect, jobs, transact } = writer;
  const within = new AsyncLocalStorage<Run>();

  async function marked<T>(work: (tx: Tx) => Promise<T>, tx: Tx, run: Run): Promise<T> {
    try {
      return await work(tx);
    } catch (thrown) {
      run.thrown = thrown;
      throw thrown;
    }
  }

  /** @param begun told of each run: what a lost commit took with it is run anew, and nothing of the run before counts. */
  const once = <T>(work: (tx: Tx) => Promise<T>, begun: (run: Run) => void): Promise<Done<T>> =>
    transact(async (statements) => {
      const run: Run = { open: true, thrown: undefined, change: newChange(clock.now()) };
      begun(run);
      try {
        const tx = rowsOf({ ...whileOpen(statements, run), db, dialect, change: run.change }, jobs);
        return { result: await within.run(run, () => inTime(marked(work, tx, run), changeMs)), change: run.change };
      } finally {
        run.open = false;
      }
    });

  /** A change that went through; nothing of those before it is left. */
  async function repeated<T>(work: (tx: Tx) => Promise<T>): Promise<Done<T>> {
    const started = clock.monotonic();
    for (let attempt = 1; ; attempt += 1) {
      let last: Run | undefined;
      try {
        return await once(work, (run) => {
          last = run;
        });
      } catch (thrown) {
        const patient = attempt <= repetitions(thrown) && clock.monotonic() - started < patienceMs;
        if (!patient) throw driverFailure(thrown, last?.thrown);
        await clock.sleep(backoffMs(attempt, random));
      }
    }
  }

  return async (work) => {
    if (within.getStore()?.open) throw new Misuse("a change within a change: pass on its tx instead");
    const { result, change } = await repeated(work);
    feed.tell(change);
    for (const follow of change.after) await Promise.try(follow).catch(afterwards);
    return result;
  };
}

/** A tx that was kept, or work that was given up, writes into no later change. */
function whileOpen({ query, execute }: Statements, run: Run): Statements {
  const check = (): void => {
    if (!run.open) throw new Misuse("the change is over");
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
  };
}

/**
 * Gives work up that takes too long, which rolls its change back: work that never
 * ends would keep everybody out. The timer is the machine's.
 */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Failure("unavailable", "the change took too long, try again", { retryAfter: 1 })), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Up to 10, 20, 40, … 160 ms, by the dice, so that those who met once do not meet again. */
export function backoffMs(attempt: number, random: Random): number {
  const [dice = 0] = random(1);
  return ((1 + dice) / 256) * 10 * 2 ** Math.min(attempt - 1, 4);
}
