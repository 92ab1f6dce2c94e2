import { type DirectClaims, noDirectClaims } from "../core/tasks/direct-claims.ts";
import { createDeploy } from "../core/websites/save.ts";
import { embeddedQueue, observedQueue, type Queue } from "../jobs/embedded.ts";
import type { StartCheck } from "../runtime/lease.ts";
import { startParents } from "../runtime/parents.ts";
import { startSchedules } from "../runtime/schedules.ts";
import type { Step } from "../start/process/ending.ts";
import { startExports } from "./exports.ts";
import type { ProcessContext } from "./process-context.ts";
import { pauseNotifier } from "./publishing.ts";
import { startPushes } from "./push.ts";
import { startTasks } from "./runs.ts";
import type { Shared } from "./shared.ts";
import { tasksOf } from "./tasks.ts";
import { startDeliveries } from "./webhooks.ts";

/** The work of a process that runs tasks. */
export interface Work {
  /** Claims in the changes of calls. */
  readonly direct: DirectClaims;
  /** Watches a task that has a new configuration of push notifications. */
  readonly watchPushes: (taskId: string) => void;
  /** Stores the address of this process for commands. */
  readonly announce: (address: string) => Promise<void>;
  /** Stops work and releases running tasks. */
  readonly stop: (step: Step) => Promise<void>;
}

/**
 * Runs tasks, delivers webhooks and builds exports in this process.
 *
 * @param processId the id of this process's row of keys.
 * @param check whether this process may run tasks.
 * @throws the error of `check`; nothing runs then.
 */
export async function startWork(
  context: ProcessContext,
  shared: Shared,
  processId: string,
  check: StartCheck | undefined,
): Promise<Work> {
  const { config, store, clock } = context;
  const { lease, runs, stopWakes } = await startTasks(context, shared, { check, processId });
  const direct = config.database === "sqlite" ? runs.direct : noDirectClaims;
  const sender = startDeliveries(context, shared);
  const pushSender = startPushes(context, shared);
  const exporter = startExports(context, shared);
  const stopSchedules = startSchedules({
    ...context,
    tasks: tasksOf({ ...context, ...shared, direct }),
    notify: pauseNotifier(context),
  });
  const stopParents = startParents(context);
  const queue = await openQueue(context);
  // A consumer without capacity looks for work itself when an attempt ends.
  await queue.subscribe("deliver", async () => void sender.wake(), sender.hasCapacity);
  await queue.subscribe("export", () => exporter.wake(), exporter.hasCapacity);
  const deploy = createDeploy(store, clock);
  await queue.subscribe("publish", async (sites) => {
    for (const { key } of sites) await deploy(key);
  });
  return {
    direct,
    watchPushes: pushSender.watch,
    announce: lease.announce,
    async stop(step) {
      await step("schedules and subtasks", Promise.all([stopSchedules(), stopParents(), stopWakes()]));
      await step("jobs", queue.drain());
      const drainMs = config.drainSeconds * 1000;
      await Promise.all([
        step("runs", runs.drain(drainMs)),
        step("exports", exporter.drain(0)),
        step("deliveries", sender.drain(drainMs)),
        step("push notifications", pushSender.drain(drainMs)),
      ]);
    },
  };
}

/** pg-boss is loaded only on PostgreSQL. */
async function openQueue({
  config: { database, databaseUrl, poolerUrl },
  store,
  clock,
  log,
  observe,
}: ProcessContext): Promise<Queue> {
  if (database === "sqlite") return observedQueue(embeddedQueue(store, clock, log), { observe, log });
  const { postgresQueue } = await import("../jobs/postgres.ts");
  return observedQueue(await postgresQueue(poolerUrl ?? databaseUrl, store.feed, log), { observe, log });
}
