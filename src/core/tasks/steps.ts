import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { NewEvent } from "./event.ts";
import type { Task, TaskChanges, TaskView } from "./task.ts";

/** The steps on a task's row that several operations share. */
export interface TaskSteps {
  /** The caller's task. Its row stays locked until the transaction ends. @throws Failure `not_found` */
  lock(tx: Tx, caller: Caller, id: string): Promise<TaskView>;
  /** @throws Failure `not_found` */
  advance(tx: Tx, id: string, set: TaskChanges, events?: readonly NewEvent[]): Promise<Task>;
  /** Notifies the runners of tasks with this profile. @param isNew the change creates the task. */
  enqueue(tx: Tx, task: Pick<Task, "id" | "agentProfile">, isNew?: boolean): Promise<void>;
}

/** @param remoteProfiles the profiles whose tasks remote workers run. */
export function taskSteps(clock: Clock, remoteProfiles: readonly string[] = []): TaskSteps {
  return {
    async lock(tx, caller, id) {
      const task = await tx.tasks.lock(caller, id);
      if (!task) throw notFound("task");
      return task;
    },
    async advance(tx, id, set, events = []) {
      const task = await tx.tasks.advance(id, { now: clock.now(), set, events });
      if (!task) throw notFound("task");
      return task;
    },
    async enqueue(tx, { id, agentProfile }, isNew = false) {
      if (remoteProfiles.includes(agentProfile)) tx.workerRuns.notifyPollers();
      else await tx.jobs.put({ kind: "run", key: id, runAt: clock.now(), isNew });
    },
  };
}
