import type { Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import { giveBackRun } from "../../core/workers/give-back.ts";
import { type EndingParts, endSpent } from "../ending.ts";
import { leaving, runStore } from "./held-run.ts";

/** Ends a worker's run whose budget is spent; a message that came meanwhile is left to the next one. @throws Lost */
export async function endSpentRun(parts: EndingParts, task: Task, workerId: string): Promise<void> {
  const run = { taskId: task.id, fence: task.fence, workerId };
  async function follow(tx: Tx, next: Task | null): Promise<null> {
    if (next !== null) await giveBackRun(tx, run, parts.clock.now());
    return null;
  }
  await endSpent(task, { ...parts, store: runStore<Task | null>(parts.store, leaving(run), follow) });
}
