import type { PublishTask, Store, Tx } from "../store.ts";
import { continueAfterWait, stop, waitingNode } from "./lifecycle.ts";
import { endBrief, hasEnded, nextLook, reasonOf, statesOf } from "./subtask-wait.ts";
import { readUpTo, type Task, type TaskWritten } from "./task.ts";

/**
 * Rows of tasks that have started subtasks. Lock order: a task, the row of its parent, its own row; never a
 * task after such a row.
 */
export interface ParentRows {
  /** Creates the row if there is none, and locks it until the change ends. */
  lock(task: Pick<Task, "id" | "spaceId">): Promise<void>;
  /**
   * Schedules a check of the subtasks of a task, if it has any: now for every process, also where clocks
   * differ, or at a time.
   */
  look(taskId: string, at?: number): Promise<void>;
  /** Asks for the stop of the subtasks of turns up to this one. */
  requestStop(taskId: string, turn: number): Promise<void>;
  /** The turn of a requested stop; 0 without one. */
  stopTurn(taskId: string): Promise<number>;
  /** The subtasks of turns up to this one are stopped. */
  endStop(taskId: string, turn: number): Promise<void>;
  /** Ids of tasks with a look that is due, the earliest first. */
  due(now: number, max: number): Promise<readonly string[]>;
  /** Takes a look that is due; false when another process was faster. */
  take(taskId: string, now: number): Promise<boolean>;
  /** The task is deleted, and nothing is due. */
  remove(taskId: string): Promise<void>;
}

/**
 * Schedules a check of the parent of each subtask that changes its state, in the change of the subtask: the
 * check is made even if this process dies.
 */
export async function followSubtask(tx: Tx, { task, isNew, events }: TaskWritten): Promise<void> {
  const { parentId, status } = task;
  if (parentId === null || isNew) return;
  if (hasEnded(status) || events.some(({ type }) => type === "status_update"))
    await tx.parents.look(parentId);
}

/**
 * Requests the stop of all subtasks of a task that no longer runs. They are stopped by separate changes:
 * there may be many. Subtasks that a later turn of the task starts are not affected.
 */
export async function stopSubtasks(
  tx: Tx,
  { id, consumedSeq, subtasks }: Pick<Task, "id" | "consumedSeq" | "subtasks">,
): Promise<void> {
  if (subtasks > 0) await tx.parents.requestStop(id, consumedSeq);
}

/** Subtasks that are read at a time. */
const batchMax = 50;

interface ParentParts {
  readonly store: Store;
  readonly clock: { now(): number };
  readonly publishTask: PublishTask;
}

/**
 * Does what is due about the subtasks of a task: stops them after a stop of the task, and ends its wait.
 * Several processes may do so at the same time.
 */
export async function settleParent({ store, clock, publishTask }: ParentParts, id: string): Promise<void> {
  const turn = await store.parents.stopTurn(id);
  if (turn > 0) {
    for (;;) {
      const living = await store.tasks.listLiving(id, turn, batchMax);
      for (const subtask of living)
        await store.change((tx) => stopSubtask(tx, subtask, clock.now(), publishTask));
      if (living.length < batchMax) break;
    }
    await store.change((tx) => tx.parents.endStop(id, turn));
  }
  await store.change((tx) => lookAtSubtasks(tx, id, clock.now(), publishTask));
}

/** Stops a subtask as task.stop does. One that has just ended stays as it is. */
async function stopSubtask(tx: Tx, id: string, now: number, publishTask: PublishTask): Promise<void> {
  for (const status of ["running", "waiting"] as const) {
    const written = await tx.tasks.advance(id, { now, when: { status }, set: stop.set, events: stop.events });
    if (!written) continue;
    const task = await publishTask(tx, written);
    if (status === "waiting") await tx.actions.dismiss(id);
    return stopSubtasks(tx, task);
  }
}

/**
 * Ends the wait of a task, if it is over. The numbers of its subtasks have changed, so lists show the task as
 * changed.
 */
async function lookAtSubtasks(tx: Tx, id: string, now: number, publishTask: PublishTask): Promise<void> {
  const task = (await tx.tasks.advance(id, { now }))?.task;
  if (!(await tx.parents.take(id, now))) return;
  if (!task) return tx.parents.remove(id);
  if (task.nodeId !== waitingNode) return;
  const wait = await tx.waits.latest(id);
  if (!wait) return;
  const states = statesOf(wait, await tx.tasks.listSubtasks(id, wait.subtasks));
  const reason = reasonOf(wait, states, { now, hasMessage: task.messageSeq > readUpTo(task) });
  if (reason === null) return tx.parents.look(id, nextLook(wait, now));
  const { set, events } = continueAfterWait(endBrief(reason, states), now);
  await tx.waits.end({ ...wait, reason, ends: states });
  const written = await tx.tasks.advance(id, { now, when: { fence: task.fence }, set, events });
  if (written) await publishTask(tx, written);
  await tx.jobs.put({ kind: "run", key: id, runAt: now });
}
