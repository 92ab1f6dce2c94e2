import { PgBoss, type UpdateQueueOptions } from "pg-boss";
import type { Clock } from "../../core/clock.ts";
import { type Job, type JobRows, jobKinds, unstoredKinds } from "../../core/processes/shared.ts";
import { changeOf, type JobRowsOf, type Session } from "../session.ts";
import { ProgrammingError, StatementFailure, type Statements } from "../statements.ts";

/** At most one job waits per key; another one may be in progress. */
const policy = "short";

const yearSeconds = 31_536_000;

/** The settings of every kind's queue, in pg-boss's table of queues. */
const queueSettings = {
  // A commit that notifies holds a lock of the complete database until it is on disk, so that changes would
  // commit sequentially. Workers receive jobs from the store's feed instead, after the commit.
  notify: false,
  // After this time the job of a dead process is due again, as soon as another process supervises.
  expireInSeconds: 30,
  // Failed jobs are retried without limit: first after 1 to 2 s, finally every 30 s.
  retryLimit: 2 ** 31 - 1,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 30,
  // Waiting jobs are deleted after the first time, completed jobs after the second.
  retentionSeconds: 10 * yearSeconds,
  deleteAfterSeconds: 60,
} as const satisfies UpdateQueueOptions;

/**
 * Creates or migrates pg-boss's schema, then its queues. Only one process may call it at a time.
 *
 * @throws StatementFailure when the database refuses.
 */
export async function prepareJobs(databaseUrl: string, failed: (thrown: Error) => void): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 1, supervise: false, schedule: false });
  boss.on("error", failed);
  try {
    await boss.start();
    for (const kind of jobKinds) {
      await boss.createQueue(kind, { policy, ...queueSettings });
      await boss.updateQueue(kind, queueSettings);
      // Processes of earlier releases have put them, and only they take them.
      if (unstoredKinds.has(kind)) await boss.deleteQueuedJobs(kind);
    }
  } catch (thrown) {
    throw new StatementFailure(thrown);
  } finally {
    await boss.stop({ graceful: false });
  }
}

/**
 * Jobs as rows of pg-boss, written on the connection of the change that puts them. This does not start
 * pg-boss: a process that only puts jobs neither takes nor supervises them.
 *
 * @param lookups the connections that read the queues, once. They are not the ones that changes wait for.
 */
export function bossJobs(lookups: Statements, clock: Clock): JobRowsOf {
  const boss = new PgBoss({ db: bridge(lookups) });
  return (session) => bossJobRows(boss, clock, session);
}

/** pg-boss's statements already use PostgreSQL's placeholders. */
const bridge = ({ query }: Pick<Statements, "query">) => ({
  executeSql: async (text: string, values: unknown[] = []) => ({
    rows: await query({ sql: text, text, values }),
  }),
});

const writesOnly = ({ write }: Pick<Statements, "write">) => ({
  async executeSql(text: string, values: unknown[] = []) {
    await write({ sql: text, text, values });
    return { rows: [] };
  },
});

function bossJobRows(boss: PgBoss, clock: Clock, session: Session): JobRows {
  const refuse = async (): Promise<never> => {
    changeOf(session);
    throw new ProgrammingError("on PostgreSQL, jobs are taken from pg-boss");
  };
  return {
    async put({ kind, key, runAt, isNew = false }: Job) {
      const change = changeOf(session);
      change.jobKinds.add(kind);
      if (unstoredKinds.has(kind)) return;
      const isDue = runAt <= clock.now();
      // Relative to PostgreSQL's time, which in a transaction is the time when it began.
      const startAfter = isDue ? 0 : (runAt - change.began) / 1000;
      const options = { singletonKey: key, startAfter, db: bridge(session) };
      // Nothing conflicts with it, so no caller needs the answer.
      if (isNew) return void (await boss.send(kind, null, { ...options, db: writesOnly(session) }));
      // The row of a waiting job is locked until the commit: no process takes it before this change's rows
      // are visible.
      for (let isPut = false; !isPut; ) {
        isPut = (await boss.send(kind, null, options)) !== null;
        isPut ||= (await boss.update(kind, undefined, { ...options, match: "all" })).updated > 0;
      }
    },
    take: refuse,
    done: refuse,
  };
}
