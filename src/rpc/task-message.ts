import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { appOf, type Caller, canAccessProjects } from "../core/accounts/caller.ts";
import { defined } from "../core/defined.ts";
import type { Tx } from "../core/store.ts";
import { currentStatus, outcomeOf } from "../core/tasks/latest.ts";
import { isQueued, isWaitingForSubtasks, type ReadRunState, type RunState } from "../core/tasks/run-state.ts";
import type { LatestStatus, TaskView } from "../core/tasks/task.ts";
import {
  RunStateSchema,
  TaskOutcomeSchema,
  TaskSchema,
  WaitingToolSchema,
} from "../gen/proto/task/v2/task_pb.ts";
import { waitMessage } from "./event.ts";
import { enumConverter, seconds, taskStatus, taskType, visibility } from "./wire-values.ts";

export type TaskWriter = (caller: Caller, task: TaskView) => TaskMessage;

type TaskMessage = MessageInitShape<typeof TaskSchema>;

const runState = enumConverter(RunStateSchema, [
  "queued",
  "running",
  "waiting_for_worker",
  "waiting_for_subtasks",
] as const);
const outcome = enumConverter(TaskOutcomeSchema, ["finished", "stopped", "failed"] as const);

/** @param appUrl the base URL of the web app, where users open tasks. */
export const taskWriter =
  (appUrl: string, readRunState: ReadRunState): TaskWriter =>
  (caller, task) =>
    task.accountId === caller.accountId
      ? { ...ownTask(appUrl, caller, task), ...runOf(task, readRunState(task)) }
      : sharedTask(appUrl, task);

/**
 * The members of a task of another account, named one by one: those that its shared page shows, and the
 * account (spec/decisions.md 82).
 */
const sharedTask = (appUrl: string, task: TaskView): TaskMessage => ({
  ...common(task),
  taskUrl: `${appUrl}/share/${task.id}`,
  createdBy: { accountId: task.accountId },
});

const common = (task: TaskView) => ({
  id: task.id,
  status: taskStatus.toValue(task.status),
  createdAt: seconds(task.createdAt),
  updatedAt: seconds(task.updatedAt),
  shareVisibility: visibility.toValue(task.shareVisibility),
  title: task.title,
});

const ownTask = (appUrl: string, caller: Caller, task: TaskView): TaskMessage => ({
  ...common(task),
  taskType: taskType.toValue(task.type),
  ...creditsOf(task),
  taskUrl: `${appUrl}/app/${task.id}`,
  ...(task.apiKeyId === null ? {} : { createdByApiKey: { id: task.apiKeyId, name: task.apiKeyName ?? "" } }),
  agentProfile: task.agentProfile,
  hasRunningBackgroundJobs: task.hasRunningSubtasks || isWaitingForSubtasks(task),
  metadata: { ...task.metadata },
  hideInTaskList: task.hidden,
  ...(task.projectId === null || !canAccessProjects(caller) ? {} : { projectId: task.projectId }),
  ...(task.agentId === null ? {} : { agentId: task.agentId }),
  ...treeOf(task),
  ...creatorOf(caller, task),
  lastSeq: task.lastSeq,
  ...progressOf(task),
  ...originOf(task),
});

const originOf = ({ importedFrom }: TaskView) =>
  importedFrom === null
    ? {}
    : {
        importedFrom: {
          origin: importedFrom.origin,
          taskId: importedFrom.id,
          importedAt: seconds(importedFrom.at),
        },
      };

function creditsOf({ credits, subtaskCredits }: TaskView) {
  const creditUsage = Math.min(credits + subtaskCredits, creditsMax);
  return creditUsage === 0 ? {} : { creditUsage };
}

/** The wire has 32 bits. */
const creditsMax = 2 ** 31 - 1;

/** The place of a subtask in its tree, and the numbers of a task's subtasks. */
function treeOf({ parentId, rootId, subtasks, ...task }: TaskView) {
  const { subtasksRunning, subtasksWaiting, subtasksStopped, subtasksFailed } = task;
  return {
    ...(parentId === null ? {} : { parentTaskId: parentId }),
    ...(rootId === null ? {} : { rootTaskId: rootId }),
    ...(subtasks === 0
      ? {}
      : {
          subtasks: {
            running: subtasksRunning,
            waiting: subtasksWaiting,
            stopped: subtasksStopped,
            error: subtasksFailed,
          },
        }),
  };
}

/** An app learns neither who its user is nor which other apps the user has (spec/decisions.md 60). */
function creatorOf(caller: Caller, { accountId, accountName, clientId, appName }: TaskView) {
  const app = appOf(caller);
  return {
    ...(app === null
      ? { createdBy: { accountId, ...(accountName === null ? {} : { name: accountName }) } }
      : {}),
    ...(clientId === null || (app !== null && app !== clientId)
      ? {}
      : { createdByApp: { clientId, name: appName ?? "" } }),
  };
}

const runOf = ({ queuedAt }: TaskView, state: RunState | null) =>
  state === null
    ? {}
    : { runState: runState.toValue(state), ...(isQueued(state) ? { queuedAt: seconds(queuedAt) } : {}) };

function progressOf(task: TaskView) {
  const { id, statusSeq, planDone, planTotal } = task;
  const latest = currentStatus(task);
  const ended = outcomeOf(task);
  return {
    ...(latest ? { brief: latest.brief } : {}),
    ...(latest?.detail && statusSeq !== null
      ? { statusDetail: { ...waitMessage(id, statusSeq, latest.detail), ...wholeOf(latest) } }
      : {}),
    ...(planDone === null || planTotal === null
      ? {}
      : { planProgress: { done: planDone, total: planTotal } }),
    ...(ended === null ? {} : { outcome: outcome.toValue(ended) }),
  };
}

/** A question has no schema, and no action that a list could decide. */
const wholeOf = ({ detail, isWhole }: LatestStatus) =>
  detail?.confirmInputSchema ? { isWhole: isWhole ?? false } : {};

/**
 * Adds what the agent wants to do to the wait for an approval: one read, of the event that the task waits
 * for.
 */
export async function withTool(
  tx: Tx,
  { id, statusSeq }: TaskView,
  message: TaskMessage,
): Promise<TaskMessage> {
  if (!message.statusDetail?.confirmInputSchema || statusSeq === null) return message;
  const [event] = await tx.events.list(id, {
    afterSeq: statusSeq - 2,
    order: "asc",
    limit: 1,
    verbose: true,
  });
  if (event?.type !== "tool_used") return message;
  const { tool: name, description, params } = event.payload;
  const task = create(TaskSchema, message);
  const tool = { name, ...defined({ description }), ...(params ? { params } : {}) };
  if (task.statusDetail) task.statusDetail.tool = create(WaitingToolSchema, tool);
  return task;
}
