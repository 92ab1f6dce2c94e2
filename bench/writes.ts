import { setTimeout as sleep } from "node:timers/promises";
import type { Finding } from "./endurance/finding.ts";
import type { Stage } from "./figure.ts";
import { type Connection, connect } from "./migrations.ts";
import { type Server, startPlatform } from "./servers.ts";
import { roundSignificant } from "./statistics.ts";

/** What PostgreSQL has written since it was started. */
interface Written {
  readonly updates: number;
  readonly hot: number;
  readonly walBytes: number;
}

const dayMs = 86_400_000;
const concurrency = 32;

/** An agent's message with 20 events, each written by itself. */
const twentyEvents = "[[think a thought of an agent]][[sleep 0.2]]".repeat(19);

async function writtenBy({ query }: Connection): Promise<Written> {
  const [row = []] =
    await query(`SELECT COALESCE(SUM(n_tup_upd), 0)::bigint, COALESCE(SUM(n_tup_hot_upd), 0)::bigint,
    pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint FROM pg_stat_user_tables WHERE relname = 'task'`);
  const [updates = 0, hot = 0, walBytes = 0] = row.map(Number);
  return { updates, hot, walBytes };
}

/** Lives of tasks, of which `concurrency` run at once. */
async function runTasks({ post }: Server, content: string, tasks: number): Promise<void> {
  let left = tasks;
  const live = async () => {
    while (left-- > 0) {
      const { task_id } = await post("/v2/task.create", { message: { content } });
      const { task } = await post("/v2/task.detail", { task_id, wait_seconds: 30 });
      if ((task as { readonly status: string }).status !== "stopped")
        throw new Error(`the task has not ended: ${task_id}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, live));
}

/** A session reports its counts after at most a second. */
const reportMs = 1_500;

/**
 * Measures what PostgreSQL writes for tasks, and for a process without work: rows and bytes, which other load
 * does not change.
 */
export async function runWrites(
  { databases, stack }: Stage,
  { tasks, idleSeconds }: { readonly tasks: number; readonly idleSeconds: number },
  report: (finding: Finding) => void,
): Promise<void> {
  const installed = await databases.empty("postgresql");
  const connection = await connect(installed.databaseUrl);
  stack.defer(() => connection.close());
  const platform = stack.use(await startPlatform(installed));
  await runTasks(platform, "What is 12 * 4?", tasks);
  const measure = async (work: () => Promise<void>) => {
    await sleep(reportMs);
    const before = await writtenBy(connection);
    await work();
    await sleep(reportMs);
    const after = await writtenBy(connection);
    return {
      hot: (after.hot - before.hot) / (after.updates - before.updates),
      walBytes: after.walBytes - before.walBytes,
    };
  };
  const kinds = [
    { name: "writes.trivial", content: "What is 12 * 4?", goal: 0.5 },
    { name: "writes.events", content: twentyEvents, goal: 0.8 },
  ];
  for (const { name, content, goal } of kinds) {
    const { hot, walBytes } = await measure(() => runTasks(platform, content, tasks));
    report({
      figure: name,
      ours: roundSignificant(hot),
      goal,
      unit: "HOT updates of task",
      wal_bytes: Math.round(walBytes / tasks),
    });
  }
  const { walBytes } = await measure(() => sleep(idleSeconds * 1_000));
  const idle = (walBytes / (idleSeconds * 1_000 + reportMs)) * dayMs;
  report({ figure: "writes.idle", ours: roundSignificant(idle / 1e6), goal: 20, unit: "MB of WAL a day" });
}
