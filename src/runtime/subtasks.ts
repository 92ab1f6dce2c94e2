import type { Clock } from "../core/clock.ts";
import { invalidArgument } from "../core/failure.ts";
import type { ReadFile } from "../core/files/files.ts";
import type { Ids } from "../core/ids.ts";
import type { PermissionRule } from "../core/permissions/rule.ts";
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
import { deliveredFiles } from "../core/workspaces/delivered.ts";
import {
  checkWorkspaceLimits,
  shareFile,
  type Workspace,
  type WorkspaceFile,
  workspacePath,
} from "../core/workspaces/workspace.ts";
import type { AgentEvent, Turn } from "./agent.ts";
import type { Subtask } from "./agent-subtasks.ts";
import { RunLost } from "./steps.ts";
import { waitsFor } from "./waits.ts";

interface SubtaskParts {
  readonly store: Tx;
  readonly ids: Ids;
  readonly readFile: ReadFile;
  readonly workspace: Workspace;
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
  const { store, ids, workspace } = parts;
  const subtasks = subtasksOf(store, task);
  const begun: string[] = [];
  const [newest, waits] = await Promise.all([
    mayHaveSubtasks(task) ? subtasks.list() : [],
    waitsFor(parts, task, begun),
  ]);
  return {
    subtasks: {
      ...subtasks,
      begun: newest,
      take: async (id) => workspace.take(await deliveredFiles(store, id)),
    },
    ...waits,
    async subtask(request, id = ids.short()) {
      messageText({ texts: [request.message] });
      await checkSubtaskLimits(store, task, begun, 1);
      if (request.files) checkFiles(await store.workspace.list(task.id), request.files);
      begun.push(id);
      return { id, ...request };
    },
  };
}

/** The path of a parent's file in the workspace of its subtask. */
const inputPath = (path: string): string =>
  workspacePath(`inputs/${workspacePath(path)}`.replace("inputs/inputs/", "inputs/"));

/** @throws Failure `invalid_argument` for a path without a file, or two that would be the same file. */
function checkFiles(files: readonly WorkspaceFile[], paths: readonly string[]): void {
  const given: WorkspaceFile[] = [];
  for (const [at, path] of paths.entries()) {
    const file = files.find((each) => each.path === workspacePath(path));
    if (!file) throw invalidArgument(`files[${at}]`, `${path} is not a file of your workspace`);
    const input = { ...file, path: inputPath(path) };
    if (given.some((other) => other.path === input.path))
      throw invalidArgument(`files[${at}]`, `${path} would be the same file as another one`);
    checkWorkspaceLimits(given, input);
    given.push(input);
  }
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

/** With another profile, addresses need an approval that no caller has named: its model may allow more. */
const askForAddresses: PermissionRule = { tool: "web_fetch", pattern: "*", decision: "ask", eachTime: false };

/**
 * Inserts a subtask. It belongs to the same account, space, app, key and project as its parent, and has its
 * agent, locale, permissions and, by default, profile, and is untrusted as it is. What the user has always
 * allowed in the parent does not hold for it.
 */
async function beginSubtask(
  tx: Tx,
  parent: Task,
  subtask: Subtask,
  now: number,
  { publishTask }: BeginParts,
): Promise<void> {
  const { id, message, title = "", profile = parent.agentProfile, outputSchema } = subtask;
  const { agentId, clientId, apiKeyId, projectId, locale, hidden, untrusted } = parent;
  const permissions =
    profile === parent.agentProfile ? parent.permissions : [...parent.permissions, askForAddresses];
  const task: Task = {
    ...idleTask(id, { accountId: parent.accountId, spaceId: parent.spaceId }, now),
    agentId,
    clientId,
    apiKeyId,
    projectId,
    agentProfile: profile,
    locale,
    hidden,
    permissions,
    untrusted,
    parentId: parent.id,
    rootId: rootOf(parent),
    depth: parent.depth + 1,
    parentTurn: parent.consumedSeq,
    type: "agent_subtask",
    title: deriveTitle(title) || deriveTitle(message),
    status: "running",
  };
  const inserted = await tx.tasks.insert(task, firstEvents(message));
  const complete = outputSchema && (await tx.tasks.advance(id, { now, set: { outputSchema } }));
  await giveResources(tx, parent, subtask);
  await giveFiles(tx, parent, subtask, now);
  await publishTask(tx, { ...inserted, ...(complete && { task: complete.task }) });
  await tx.jobs.put({ kind: "run", key: id, runAt: now });
  if (profile !== parent.agentProfile) tx.workerRuns.notifyPollers();
}

/** Gives a subtask its tools, and its connectors as far as its parent still has them. */
async function giveResources(
  tx: Tx,
  { id: parentId, parentId: grandparentId, spaceId }: Task,
  { id, tools: ownTools, connectors: wanted = [] }: Subtask,
): Promise<void> {
  // Only subtasks have limited tools.
  const given = grandparentId === null && wanted.length === 0 ? null : await tx.taskResources.find(parentId);
  const tools = ownTools ?? given?.tools ?? null;
  const connectors = wanted.filter((uid) => given?.connectors.includes(uid));
  if (tools !== null || connectors.length > 0)
    await tx.taskResources.set({ id, spaceId }, { tools, connectors });
}

async function giveFiles(tx: Tx, parent: Task, { id, files = [] }: Subtask, now: number): Promise<void> {
  const given: WorkspaceFile[] = [];
  for (const path of files) {
    const file = await tx.workspace.find(parent.id, workspacePath(path));
    const input = file && { ...file, taskId: id, path: inputPath(path), updatedAt: now };
    if (input) given.push(await shareFile(tx, given, input));
  }
}
