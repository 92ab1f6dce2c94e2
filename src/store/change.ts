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

/** One attempt: whether it is under way, and what its work threw. */
interface Mark {
  open: boolean;
  thrown: unknown;
}

/** A change is tried again for so long at most; PostgreSQL takes a second to see that two changes block each other. */
const patienceMs = 15_000;

/** Makes the store's `change`: one transaction at a time on SQLite, repeated where another was first. */
export function changer(writer: Writer, { clock, random, feed, afterwards, changeMs }: Surroundings): Store["change"] {
  const { client: db, dialect, jobs, transact } = writer;
  const within = new AsyncLocalStorage<Mark>();

  async function marked<T>(work: (tx: Tx) => Promise<T>, tx: Tx, mark: Mark): Promise<T> {
    try {
      return await work(tx);
    } catch (thrown) {
      mark.thrown = thrown;
      throw thrown;
    }
  }

  async function once<T>(work: (tx: Tx) => Promise<T>, change: Change, mark: Mark): Promise<T> {
    const run = async (statements: Statements): Promise<T> => {
      try {
        const tx = rowsOf({ ...whileOpen(statements, mark), db, dialect, change }, jobs);
        return await within.run(mark, () => inTime(marked(work, tx, mark), changeMs));
      } finally {
        mark.open = false;
      }
    };
    return transact(run);
  }

  /** A change that went through, and what it came to; nothing of those before it is left. */
  async function repeated<T>(work: (tx: Tx) => Promise<T>): Promise<{ readonly result: T; readonly change: Change }> {
    const started = clock.monotonic();
    for (let attempt = 1; ; attempt += 1) {
      const change = newChange(clock.now());
      const mark: Mark = { open: true, thrown: undefined };
      try {
        return { result: await once(work, change, mark), change };
      } catch (thrown) {
        const patient = attempt <= repetitions(thrown) && clock.monotonic() - started < patienceMs;
        if (!patient) throw driverFailure(thrown, mark.thrown);
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
function whileOpen({ query, execute }: Statements, mark: Mark): Statements {
  const check = (): void => {
    if (!mark.open) throw new Misuse("the change is over");
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
