import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { NewEvent } from "./event.ts";
import type { Task, TaskChanges, TaskView } from "./task.ts";

/** What every operation that changes a task does with its row. */
export interface TaskSteps {
  /** The caller's task, which nobody else changes before this change ends. @throws Failure `absent` */
  locked(tx: Tx, caller: Caller, id: string): Promise<TaskView>;
  /** @throws Failure `absent` */
  advance(tx: Tx, id: string, set: TaskChanges, events?: readonly NewEvent[]): Promise<Task>;
  /** Wakes whoever runs tasks of that profile. */
  enqueue(tx: Tx, task: Pick<Task, "id" | "agentProfile">): Promise<void>;
}

/** @param remoteProfiles those whose tasks are done by remote workers. */
export function taskSteps(clock: Clock, remoteProfiles: readonly string[] = []): TaskSteps {
  return {
    async locked(tx, caller, id) {
      const task = await tx.tasks.lock(caller, id);
      if (!task) throw absent("task");
      return task;
    },
    async advance(tx, id, set, events = []) {
      const task = await tx.tasks.advance(id, { now: clock.now(), set, events });
      if (!task) throw absent("task");
      return task;
    },
    async enqueue(tx, { id, agentProfile }) {
      if (remoteProfiles.includes(agentProfile)) tx.workerRuns.want();
      else await tx.jobs.put({ kind: "run", key: id, runAt: clock.now() });
    },
  };
}
