import type { Tx } from "../store.ts";
import { type WorkerRun, workerNode } from "./worker-run.ts";

/**
 * Gives a worker's run to whoever claims it next, and wakes them. The worker writes
 * nothing from then on, by the fence. Claims that were to no avail stay counted.
 */
export async function giveBackRun(
  tx: Tx,
  { taskId, workerId, fence }: Pick<WorkerRun, "taskId" | "workerId" | "fence">,
  now: number,
): Promise<void> {
  const when = { fence, nodeId: workerNode(workerId), status: "running" } as const;
  const given = await tx.tasks.advance(taskId, { now, when, set: { nodeId: null, raiseFence: true } });
  if (given) await tx.jobs.put({ kind: "run", key: taskId, runAt: now });
}
