import { type Clock as BossClock, type JobWithMetadata, PgBoss } from "pg-boss";
import type { Log } from "../core/log.ts";
import type { Job } from "../core/processes/shared.ts";
import type { Feed } from "../core/store.ts";
import type { Queue } from "./embedded.ts";

const batchMax = 100;
/** A job is taken within this time after it is due, or after it was put when its wake-up was lost. */
const lookSeconds = 0.5;
/** How often pg-boss looks for jobs of dead processes, and how often it deletes finished jobs. */
const superviseSeconds = 15;
const clearSeconds = 60;
const poolMax = 3;

/**
 * A queue on pg-boss, from the rows that changes have put (`store/rows/postgresql-jobs.ts`). A job that is
 * due when it is put runs at once, any other within half a second after it is due. Every process with a queue
 * also supervises the jobs; pg-boss makes sure that only one of them does it at a time.
 *
 * @param feed notifies of jobs that any process has put.
 * @param clock replaces pg-boss's timers in tests; jobs are due by PostgreSQL's time.
 * @throws Error when the database does not answer.
 */
export async function postgresQueue(
  databaseUrl: string,
  feed: Feed,
  log: Log,
  clock?: BossClock,
): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    max: poolMax,
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    maintenanceIntervalSeconds: clearSeconds,
    ...(clock && { clock }),
  });
  boss.on("error", (cause) => log("error", "taking jobs failed", { cause }));
  boss.on("warning", ({ message, data }) => log("warn", message, { data }));
  await boss
    .start()
    .catch((thrown: unknown) => boss.stop({ graceful: false }).then(() => Promise.reject(thrown)));
  const workers = new Map<string, { id: string; hasCapacity: () => boolean }>();
  const wake = (kind: string) => {
    const worker = workers.get(kind);
    if (worker?.hasCapacity()) boss.notifyWorker(worker.id);
  };
  const unsubscribes = [feed.onJob(wake), feed.onLost(() => [...workers.keys()].forEach(wake))];

  return {
    async subscribe(kind, work, hasCapacity = () => true) {
      workers.set(kind, {
        id: await boss.work(kind, workOptions, (jobs) => runJobs(kind, jobs, work, log)),
        hasCapacity,
      });
    },
    async drain() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      await Promise.all([...workers.keys()].map((kind) => boss.offWork(kind, { wait: true })));
      await boss.stop({ graceful: false });
    },
  };
}

const workOptions = {
  batchSize: batchMax,
  includeMetadata: true,
  pollingIntervalSeconds: lookSeconds,
} as const;

/**
 * Runs jobs and logs a failure here with its cause, because pg-boss stores the error that it receives in a
 * table.
 */
async function runJobs(
  kind: Job["kind"],
  jobs: readonly Pick<JobWithMetadata, "singletonKey" | "startAfter">[],
  work: (jobs: readonly Job[]) => Promise<void>,
  log: Log,
): Promise<void> {
  try {
    await work(
      jobs.map(({ singletonKey, startAfter }) => ({
        kind,
        key: singletonKey ?? "",
        runAt: startAfter.getTime(),
      })),
    );
  } catch (cause) {
    log("error", "taking jobs failed", { kind, cause });
    throw new Error("the job failed");
  }
}
