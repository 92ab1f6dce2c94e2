import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Ids } from "../core/ids.ts";
import type { Tx } from "../core/store.ts";
import { firstEvents, idleTask } from "../core/tasks/lifecycle.ts";
import { deriveTitle, messageText } from "../core/tasks/message.ts";
import { subtasksOf } from "../core/tasks/subtasks.ts";
import type { Task } from "../core/tasks/task.ts";
import type { AgentEvent, Subtask, Turn } from "./agent.ts";

/** The most subtasks of a task that may run at once. */
export const subtasksMax = 20;
/** The most subtasks that a turn may begin, so that an agent in a loop ends. */
export const subtasksOfTurnMax = 100;

/** The dependencies of subtasks. */
interface SubtaskParts {
  readonly store: Tx;
  readonly ids: Ids;
}

/** A task whose agent may begin subtasks. */
type MainTask = Task & { readonly agentId: string };

/** True when the task may have subtasks: only an agent's main task may, so they never nest (spec/api.md 9.11). */
export const isMainTask = (task: Task): task is MainTask => task.agentId !== null && task.type !== "agent_subtask";

/**
 * Gives a run the means to begin subtasks, and the states of earlier ones: the end of a subtask wakes no run, so each turn
 * receives the states. The limits are checked here and count subtasks that are not written so far. A task has one run at
 * a time, so no other run begins subtasks in between. Subtasks that users continue are not limited here.
 */
export async function subtasksFor({ store, ids }: SubtaskParts, task: Task): Promise<Pick<Turn, "subtask" | "subtasks">> {
  if (!isMainTask(task)) return {};
  const subtasks = subtasksOf(store, task);
  const begun: string[] = [];
  return {
    subtasks: { ...subtasks, begun: await subtasks.list() },
    async subtask(message) {
      messageText({ texts: [message] });
      await checkSubtaskLimits(store, task, begun, 1);
      const id = ids.short();
      begun.push(id);
      return { id, message };
    },
  };
}

/** @param more the number of subtasks to begin. @throws Failure `resource_exhausted` when they exceed a limit. */
export async function checkSubtaskLimits(store: Pick<Tx, "tasks">, task: MainTask, begun: readonly string[], more: number): Promise<void> {
  const { running, ofTurn } = await store.tasks.countSubtasks(task, begun);
  if (running + more > subtasksMax) throw new Failure("resource_exhausted", `${subtasksMax} subtasks run already`);
  if (ofTurn + more > subtasksOfTurnMax)
    throw new Failure("resource_exhausted", `this turn has begun ${subtasksOfTurnMax} subtasks already`);
}

/** Inserts the subtasks of these events and puts the jobs that run them. */
export async function beginSubtasks(
  tx: Tx,
  task: Task,
  events: readonly AgentEvent<unknown>[],
  { clock }: { readonly clock: Clock },
): Promise<void> {
  for (const event of events) {
    if (event.type === "tool_used" && event.subtask && isMainTask(task)) await beginSubtask(tx, task, event.subtask, clock.now());
  }
}

/** Inserts a subtask. It inherits agent, owner, profile and locale of the main task, nothing else. */
async function beginSubtask(
  tx: Tx,
  { agentId, accountId, spaceId, agentProfile, locale }: Task,
  { id, message }: Subtask,
  now: number,
): Promise<void> {
  const task: Task = {
    ...idleTask(id, { accountId, spaceId }, now),
    ...{ agentId, agentProfile, locale },
    type: "agent_subtask",
    title: deriveTitle(message),
    status: "running",
  };
  await tx.tasks.insert(task, firstEvents(message));
  await tx.jobs.put({ kind: "run", key: id, runAt: now });
}
