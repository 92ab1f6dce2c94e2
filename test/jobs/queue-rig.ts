import { PgBoss, TestClock } from "pg-boss";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import type { Job } from "../../src/core/processes/shared.ts";
import type { Store } from "../../src/core/store.ts";
import { embeddedQueue, type Queue } from "../../src/jobs/embedded.ts";
import { postgresQueue } from "../../src/jobs/postgres.ts";
import { openStore } from "../../src/store/open.ts";
import { passTime, passUntil, type WatchedStore, watchedStore } from "../runtime/watched-store.ts";
import { type DatabaseKind, databaseUrl, openTestStore, type TestDatabase } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";

type Work = (jobs: readonly Job[]) => Promise<void>;

/** A process that takes jobs. */
export interface QueueProcess {
  readonly queue: Queue;
  readonly store: Store;
  readonly logged: string[];
}

/** Bounds in milliseconds of the clock. */
type Bounds = readonly [least: number, most: number];

/** Queues on one database; their clock moves only when a test moves it. */
export interface QueueRig extends AsyncDisposable {
  readonly db: TestDatabase;
  readonly clock: Pick<Clock, "now">;
  /** A store of a process that takes no jobs. */
  readonly store: Store;
  /** When a job becomes due again after its work has failed, and after its process has died. */
  readonly retryAfter: { readonly failed: Bounds; readonly died: Bounds };
  open(work: Work, wanted?: () => boolean): Promise<QueueProcess>;
  /** A process takes the due jobs and dies. */
  takeAndDie(): Promise<void>;
  pass(ms: number): Promise<void>;
  /** Moves the clock until a condition holds; returns by how much. */
  passUntil(holds: () => Promise<boolean> | boolean): Promise<number>;
}

export const openQueueRig = (kind: DatabaseKind): Promise<QueueRig> =>
  kind === "sqlite" ? embeddedRig() : postgresRig();

async function embeddedRig(): Promise<QueueRig> {
  await using opening = new AsyncDisposableStack();
  const db = opening.use(await openTestStore("sqlite"));
  const clock = stillClock();
  const watched: WatchedStore[] = [];
  const processes: QueueProcess[] = [];
  opening.defer(async () => {
    for (const { queue, store } of processes) await queue.drain().then(() => store.close());
  });
  const opened = opening.move();
  return {
    db,
    clock,
    store: db.store,
    retryAfter: { failed: [30_000, 31_100], died: [30_000, 31_100] },
    async open(work, wanted) {
      const watchedOne = watchedStore(
        await openStore({ databaseUrl: db.url, clock: systemClock, random: systemRandom }),
      );
      const logged: string[] = [];
      const queue = embeddedQueue(watchedOne.store, clock, (_, text) => void logged.push(text));
      await queue.subscribe("publish", work, wanted);
      watched.push(watchedOne);
      const process = { queue, store: watchedOne.store, logged };
      processes.push(process);
      return process;
    },
    takeAndDie: () =>
      db.store.change(
        async (tx) => void (await tx.jobs.take("publish", clock.now(), clock.now() + 30_000, 9)),
      ),
    pass: (ms) => passTime(clock, ms, ...watched),
    passUntil: (holds) => passUntil(clock, holds, ...watched),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Sessions of pg-boss and of the store read the test's clock instead of PostgreSQL's. */
async function postgresRig(): Promise<QueueRig> {
  await using opening = new AsyncDisposableStack();
  // A separate database: pg-boss stores the times of its maintenance in it, by this clock.
  const db = opening.use(await databaseUrl("postgresql"));
  const clock = new TestClock();
  // Runs as long as the clock is needed.
  const keeper = new PgBoss({ connectionString: db.url, max: 2, clock, supervise: false, schedule: false });
  // Its connections are closed with those of the others.
  keeper.on("error", () => undefined);
  await keeper.start();
  opening.defer(() => keeper.stop({ graceful: false }));
  const openOther = () =>
    openStore({
      databaseUrl: onTestClock(db.url),
      clock: { ...systemClock, now: () => clock.now() },
      random: systemRandom,
    });
  const store = await openOther();
  opening.defer(() => store.close());
  const processes: QueueProcess[] = [];
  opening.defer(async () => {
    for (const { queue, store } of processes) await queue.drain().then(() => store.close());
  });
  const opened = opening.move();

  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) await clock.tick(Math.min(100, left));
  }
  return {
    db,
    clock,
    store,
    retryAfter: { failed: [1_000, 2_700], died: [30_000, 48_000] },
    async open(work, wanted) {
      const logged: string[] = [];
      const store = await openOther();
      const queue = await postgresQueue(db.url, store.feed, (_, text) => void logged.push(text), clock);
      await queue.subscribe("publish", work, wanted);
      const process = { queue, store, logged };
      processes.push(process);
      return process;
    },
    takeAndDie: async () => void (await keeper.fetch("publish", { batchSize: 9 })),
    pass,
    async passUntil(holds) {
      const begun = clock.now();
      while (!(await holds())) {
        if (clock.now() - begun > 120_000)
          throw new Error("the condition did not hold within two minutes of the clock");
        await pass(100);
      }
      return clock.now() - begun;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function onTestClock(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("options", "-c pgboss.test_clock=on");
  return url.href;
}
