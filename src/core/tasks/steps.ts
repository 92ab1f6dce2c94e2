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
  /** Wakes whoever runs tasks. */
  enqueue(tx: Tx, taskId: string): Promise<void>;
}

export function taskSteps(clock: Clock): TaskSteps {
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
    async enqueue(tx, taskId) {
      await tx.jobs.put({ kind: "run", key: taskId, runAt: clock.now() });
    },
  };
}
