import { PgBoss, type UpdateQueueOptions } from "pg-boss";
import type { Clock } from "../core/clock.ts";
import { type Job, type JobRows, jobKinds } from "../core/jobs/job.ts";
import { Misuse } from "./misuse.ts";
import { changeOf, type JobRowsOf, type Session } from "./session.ts";
import { StatementFailure, type Statements } from "./statements.ts";

/** One job waits under a key; another may be in hand. */
const policy = "short";

const yearSeconds = 31_536_000;

/** How pg-boss keeps the jobs of every kind, in its table of queues. */
const keeping = {
  // A commit that notifies holds a lock of the whole database until it is on the disk, so that changes would
  // commit one after the other: workers hear of jobs from the store's feed, after it.
  notify: false,
  // A job whose process died is due again after this, as soon as another process supervises.
  expireInSeconds: 30,
  // Work that fails is tried again for ever: after a second or two at first, after half a minute at last.
  retryLimit: 2 ** 31 - 1,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 30,
  // What waits is deleted after this; what is done after that.
  retentionSeconds: 10 * yearSeconds,
  deleteAfterSeconds: 60,
} as const satisfies UpdateQueueOptions;

/**
 * Makes pg-boss's schema, or brings it up to date, and its queues. To be called by one process at a time.
 *
 * @throws StatementFailure when the database refuses.
 */
export async function prepareJobs(databaseUrl: string, failed: (thrown: Error) => void): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 1, supervise: false, schedule: false });
  boss.on("error", failed);
  try {
    await boss.start();
    for (const kind of jobKinds) {
      await boss.createQueue(kind, { policy, ...keeping });
      await boss.updateQueue(kind, keeping);
    }
  } catch (thrown) {
    throw new StatementFailure(thrown);
  } finally {
    await boss.stop({ graceful: false });
  }
}

/**
 * Jobs as rows of pg-boss's, written on the connection of the change that puts them. Nothing is
 * started for that: a process that only puts jobs neither takes nor supervises them.
 *
 * @param beside where its queues are looked up, once: not the connections that changes wait for.
 */
export function bossJobs(beside: Statements, clock: Clock): JobRowsOf {
  const boss = new PgBoss({ db: bridge(beside) });
  return (session) => bossJobRows(boss, clock, session);
}

/** pg-boss's statements have PostgreSQL's own placeholders already. */
const bridge = ({ query }: Pick<Statements, "query">) => ({
  executeSql: async (text: string, values: unknown[] = []) => ({ rows: await query({ sql: text, text, values }) }),
});

function bossJobRows(boss: PgBoss, clock: Clock, session: Session): JobRows {
  const refuse = async (): Promise<never> => {
    changeOf(session);
    throw new Misuse("pg-boss hands out the jobs of PostgreSQL");
  };
  return {
    async put({ kind, key, runAt }: Job) {
      const change = changeOf(session);
      change.jobKinds.add(kind);
      const isDue = runAt <= clock.now();
      // By PostgreSQL's time, which in a transaction stands where it began.
      const startAfter = isDue ? 0 : (runAt - change.began) / 1000;
      const options = { singletonKey: key, startAfter, db: bridge(session) };
      // Of a job that waits, the row is locked until the commit: nobody takes it before what this change wrote can be seen.
      for (let isPut = false; !isPut; ) {
        isPut = (await boss.send(kind, null, options)) !== null;
        isPut ||= (await boss.update(kind, undefined, { ...options, match: "all" })).updated > 0;
      }
    },
    take: refuse,
    done: refuse,
  };
}
