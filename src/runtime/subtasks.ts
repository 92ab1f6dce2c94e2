import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Ids } from "../core/ids.ts";
import type { Tx } from "../core/store.ts";
import { begin } from "../core/tasks/lifecycle.ts";
import { messageText, titleOf } from "../core/tasks/message.ts";
import { restingTask } from "../core/tasks/new-task.ts";
import type { Task } from "../core/tasks/task.ts";
import type { AgentEvent, Subtask, Turn } from "./agent.ts";

/** An agent has at most so many subtasks that run. */
export const subtasksMax = 20;

/** What subtasks are begun with. */
interface SubtaskParts {
  readonly store: Tx;
  readonly ids: Ids;
}

/** Whether the task may have subtasks: only an agent's main task, so that they never nest (contract/v2.md 9.11). */
const mayBegin = ({ agentId, type }: Task): boolean => agentId !== null && type !== "agent_subtask";

/**
 * How the run of a task begins subtasks: the room for them is counted here, those that are not written yet among them. A
 * task has one run at a time, so nobody else begins any meanwhile; what users let run on again is theirs.
 */
export function subtasksFor({ store, ids }: SubtaskParts, task: Task): Pick<Turn, "subtask"> {
  const { agentId } = task;
  if (agentId === null || !mayBegin(task)) return {};
  const begun: string[] = [];
  return {
    async subtask(message) {
      messageText({ texts: [message] });
      if ((await store.tasks.countSubtasks(agentId, begun)) >= subtasksMax) {
        throw new Failure("exhausted", `${subtasksMax} subtasks run already`);
      }
      const id = ids.short();
      begun.push(id);
      return { id, message };
    },
  };
}

/** Makes the subtasks that these events tell of, and wakes whoever runs them. */
export async function beginSubtasks(
  tx: Tx,
  task: Task,
  events: readonly AgentEvent<unknown>[],
  { clock }: { readonly clock: Clock },
): Promise<void> {
  for (const event of events) {
    if (event.type === "tool_used" && event.subtask && mayBegin(task)) await beginSubtask(tx, task, event.subtask, clock.now());
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
