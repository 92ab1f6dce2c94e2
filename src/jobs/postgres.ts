import { type Clock as BossClock, type JobWithMetadata, PgBoss } from "pg-boss";
import type { Job } from "../core/jobs/job.ts";
import type { Log } from "../core/log.ts";
import type { Feed } from "../core/store.ts";
import type { Queue } from "./queue.ts";

const batchMax = 100;
/** A job that waited for its time is taken within this after it, and one whose wake-up was not heard after it was put. */
const lookSeconds = 0.5;
/** How often jobs of dead processes are looked for, and jobs that are done are cleared away. */
const superviseSeconds = 15;
const clearSeconds = 60;
const poolMax = 3;

/**
 * Jobs that pg-boss hands out, from the rows that changes have put (`store/postgresql-jobs.ts`): at once
 * where they are due, and else within half a second. This process supervises them too, as any that takes
 * them does; among themselves they do so once.
 *
 * @param feed tells of jobs that were put, by whatever process.
 * @param clock of tests, for pg-boss's timers; it goes by PostgreSQL's time.
 * @throws Error when the database does not answer.
 */
export async function postgresQueue(databaseUrl: string, feed: Feed, log: Log, clock?: BossClock): Promise<Queue> {
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
  await boss.start().catch((thrown: unknown) => boss.stop({ graceful: false }).then(() => Promise.reject(thrown)));
  const workers = new Map<string, { readonly id: string; readonly wanted: () => boolean }>();
  const wake = (kind: string) => {
    const worker = workers.get(kind);
    if (worker?.wanted()) boss.notifyWorker(worker.id);
  };
  const forgets = [feed.onJob(wake), feed.onLost(() => [...workers.keys()].forEach(wake))];

  return {
    async subscribe(kind, work, wanted = () => true) {
      workers.set(kind, { id: await boss.work(kind, taking, (jobs) => worked(kind, jobs, work, log)), wanted });
    },
    async drain() {
      for (const forget of forgets) forget();
      await Promise.all([...workers.keys()].map((kind) => boss.offWork(kind, { wait: true })));
      await boss.stop({ graceful: false });
    },
  };
}

const taking = { batchSize: batchMax, includeMetadata: true, pollingIntervalSeconds: lookSeconds } as const;

/** What failed is said here: what pg-boss is told of it stands in a table. */
async function worked(
  kind: Job["kind"],
  jobs: readonly Pick<JobWithMetadata, "singletonKey" | "startAfter">[],
  work: (jobs: readonly Job[]) => Promise<void>,
  log: Log,
): Promise<void> {
  try {
    await work(jobs.map(({ singletonKey, startAfter }) => ({ kind, key: singletonKey ?? "", runAt: startAfter.getTime() })));
  } catch (cause) {
    log("error", "taking jobs failed", { kind, cause });
    throw new Error("its work failed");
  }
}
