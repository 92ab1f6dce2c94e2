import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Ids } from "../core/ids.ts";
import type { Tx } from "../core/store.ts";
import { begin } from "../core/tasks/lifecycle.ts";
import { messageText, titleOf } from "../core/tasks/message.ts";
import { restingTask } from "../core/tasks/new-task.ts";
import { subtasksOf } from "../core/tasks/subtasks.ts";
import type { Task } from "../core/tasks/task.ts";
import type { AgentEvent, Subtask, Turn } from "./agent.ts";

/** An agent has at most so many subtasks that run. */
export const subtasksMax = 20;
/** A turn begins at most so many, so that an agent that has lost its way ends. */
export const subtasksOfTurnMax = 100;

/** What subtasks are begun with. */
interface SubtaskParts {
  readonly store: Tx;
  readonly ids: Ids;
}

/** A task whose agent may have subtasks. */
type MainTask = Task & { readonly agentId: string };

/** Whether the task may have subtasks: only an agent's main task, so that they never nest (contract/v2.md 9.11). */
export const isMainTask = (task: Task): task is MainTask => task.agentId !== null && task.type !== "agent_subtask";

/**
 * How the run of a task begins subtasks, and what became of earlier ones: nobody is woken when one ends, so each turn is
 * told how they stand. The room for them is counted here, those that are not written yet among them. A task has one run at
 * a time, so nobody else begins any meanwhile; what users let run on again is theirs.
 */
export async function subtasksFor({ store, ids }: SubtaskParts, task: Task): Promise<Pick<Turn, "subtask" | "subtasks">> {
  if (!isMainTask(task)) return {};
  const subtasks = subtasksOf(store, task);
  const begun: string[] = [];
  return {
    subtasks: { ...subtasks, begun: await subtasks.list() },
    async subtask(message) {
      messageText({ texts: [message] });
      await checkRoom(store, task, begun, 1);
      const id = ids.short();
      begun.push(id);
      return { id, message };
    },
  };
}

/** @param more that are to begin. @throws Failure `exhausted` where there is no room for them. */
export async function checkRoom(store: Pick<Tx, "tasks">, task: MainTask, begun: readonly string[], more: number): Promise<void> {
  const { running, ofTurn } = await store.tasks.countSubtasks(task, begun);
  if (running + more > subtasksMax) throw new Failure("exhausted", `${subtasksMax} subtasks run already`);
  if (ofTurn + more > subtasksOfTurnMax) throw new Failure("exhausted", `this turn has begun ${subtasksOfTurnMax} subtasks already`);
}

/** Makes the subtasks that these events tell of, and wakes whoever runs them. */
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

/** It is its agent's, and its user's as the main task is; nothing else of the main task is handed on but how it speaks and who does it. */
async function beginSubtask(
  tx: Tx,
  { agentId, accountId, spaceId, agentProfile, locale }: Task,
  { id, message }: Subtask,
  now: number,
): Promise<void> {
  const task: Task = {
    ...restingTask(id, { accountId, spaceId }, now),
    ...{ agentId, agentProfile, locale },
    type: "agent_subtask",
    title: titleOf(message),
    status: "running",
  };
  await tx.tasks.insert(task, begin(message));
  await tx.jobs.put({ kind: "run", key: id, runAt: now });
}
