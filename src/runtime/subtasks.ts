import type { Clock } from "../core/clock.ts";
import type { ReadFile } from "../core/files/files.ts";
import type { Ids } from "../core/ids.ts";
import type { PublishTask, Tx } from "../core/store.ts";
import { firstEvents, idleTask } from "../core/tasks/lifecycle.ts";
import { deriveTitle, messageText } from "../core/tasks/message.ts";
import {
  checkDepth,
  checkSubtaskCount,
  depthMax,
  mayHaveSubtasks,
  rootOf,
  subtasksOf,
} from "../core/tasks/subtasks.ts";
import type { Task } from "../core/tasks/task.ts";
import type { AgentEvent, Subtask, Turn } from "./agent.ts";
import { RunLost } from "./steps.ts";
import { waitsFor } from "./waits.ts";

interface SubtaskParts {
  readonly store: Tx;
  readonly ids: Ids;
  readonly readFile: ReadFile;
}

/**
 * Gives a run the means to start subtasks, to wait for them, and to read their states. The limits are checked
 * here and count subtasks that are not written so far. Other tasks of the tree may start subtasks in between,
 * so the change that writes the event checks them again. Subtasks that users continue are not limited here.
 */
export async function subtasksFor(
  parts: SubtaskParts,
  task: Task,
): Promise<Pick<Turn, "subtask" | "subtasks" | "waits" | "waitFor">> {
  if (task.depth >= depthMax) return {};
  const { store, ids } = parts;
  const subtasks = subtasksOf(store, task);
  const begun: string[] = [];
  const [newest, waits] = await Promise.all([
    mayHaveSubtasks(task) ? subtasks.list() : [],
    waitsFor(parts, task, begun),
  ]);
  return {
    subtasks: { ...subtasks, begun: newest },
    ...waits,
    async subtask(message) {
      messageText({ texts: [message] });
      await checkSubtaskLimits(store, task, begun, 1);
      const id = ids.short();
      begun.push(id);
      return { id, message };
    },
  };
}

/**
 * @param more the number of subtasks to start.
 * @throws Failure `failed_precondition` for a task that is too deep, `resource_exhausted` when they exceed a
 * limit.
 */
async function checkSubtaskLimits(
  store: Pick<Tx, "tasks">,
  task: Task,
  begun: readonly string[],
  more: number,
): Promise<void> {
  checkDepth(task);
  const root = task.rootId === null ? task : await store.tasks.byId(task.rootId);
  // The root was deleted: its subtasks are being stopped.
  const deleted = { id: rootOf(task), agentId: null, consumedSeq: 0 };
  checkSubtaskCount(await store.tasks.countSubtasks(root ?? deleted, begun), more);
}

interface BeginParts {
  readonly clock: Clock;
  readonly publishTask: PublishTask;
}

/**
 * Inserts the subtasks of these events and puts the jobs that run them. Starts below one root run
 * sequentially, so that the limits hold. Lock order: the task, its own row of parents, the root's.
 *
 * @throws RunLost, Failure `resource_exhausted` when other tasks of the tree have used the limits in the
 * meantime.
 */
export async function beginSubtasks(
  tx: Tx,
  task: Task,
  events: readonly AgentEvent<unknown>[],
  parts: BeginParts,
): Promise<void> {
  const started = events.flatMap((event) =>
    event.type === "tool_used" && event.subtask ? [event.subtask] : [],
  );
  if (started.length === 0) return;
  const now = parts.clock.now();
  const parent = (
    await tx.tasks.advance(task.id, {
      now,
      when: { fence: task.fence },
      set: { addSubtasks: started.length },
    })
  )?.task;
  if (!parent) throw new RunLost();
  await tx.parents.lock(parent);
  if (parent.rootId !== null) await tx.parents.lock({ id: parent.rootId, spaceId: parent.spaceId });
  await checkSubtaskLimits(tx, parent, [], started.length);
  for (const subtask of started) await beginSubtask(tx, parent, subtask, now, parts);
}

/**
 * Inserts a subtask. It belongs to the same account, space, app, key and project as its parent, and has its
 * agent, profile, locale and permissions, and is untrusted as it is. What the user has always allowed in the
 * parent does not hold for it.
 */
async function beginSubtask(
  tx: Tx,
  parent: Task,
  { id, message }: Subtask,
  now: number,
  { publishTask }: BeginParts,
): Promise<void> {
  const { agentId, clientId, apiKeyId, projectId, agentProfile, locale, hidden } = parent;
  const { permissions, untrusted } = parent;
  const task: Task = {
    ...idleTask(id, { accountId: parent.accountId, spaceId: parent.spaceId }, now),
    agentId,
    clientId,
    apiKeyId,
    projectId,
    agentProfile,
    locale,
    hidden,
    permissions,
    untrusted,
    parentId: parent.id,
    rootId: rootOf(parent),
    depth: parent.depth + 1,
    parentTurn: parent.consumedSeq,
    type: "agent_subtask",
    title: deriveTitle(message),
    status: "running",
  };
  await publishTask(tx, await tx.tasks.insert(task, firstEvents(message)));
  await tx.jobs.put({ kind: "run", key: id, runAt: now });
}
