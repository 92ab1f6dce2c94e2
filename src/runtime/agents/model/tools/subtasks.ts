import { defined } from "../../../../core/defined.ts";
import type { Json } from "../../../../core/json.ts";
import type { References } from "../../../../core/tasks/message.ts";
import { type WaitMode, type WaitReason, waitedMax, waitMsMax } from "../../../../core/tasks/subtask-wait.ts";
import type { SubtaskState } from "../../../../core/tasks/subtasks.ts";
import type { Turn, WaitedSubtask } from "../../../agent.ts";
import { head, type Tool, type ToolResult } from "../tool.ts";
import { createTool, errorResult, successResult } from "./create-tool.ts";
import { readTask, type TaskReading, taskReadingSchemas, taskReadingUse } from "./reading/task.ts";

interface Input extends TaskReading {
  readonly task_id: string;
}

/** Reads tasks that this task refers to (spec/api.md 9.8). A task that may not be opened is not found. */
export const browseTask = ({ ids }: References): Tool =>
  createTool<Input>({
    name: "browse_task",
    description: `Reads another task that the user has referred to. Those are: ${ids.join(", ")}. ${taskReadingUse}`,
    properties: taskReadingSchemas,
    required: ["task_id", "action"],
    reads: () => true,
    inParts: true,
    isForeign: true,
    brief: ({ action }) => `${action === "search" ? "Search" : "Read"} a referenced task`,
    async use({ task_id: taskId, ...reading }, { turn }) {
      const task = await turn.references.open(taskId);
      return task ? successResult(await readTask(task, reading)) : errorResult("task not found");
    },
  });

const promptMax = 20_000;

/** The tools that begin subtasks and wait for them; not in a subtask that is three deep (spec/api.md 8.80). */
export const subtaskTools = ({
  subtask,
  subtasks,
  waitFor,
}: Pick<Turn, "subtask" | "subtasks" | "waitFor">): readonly Tool[] =>
  subtask && subtasks && waitFor ? [subagent(subtask), wait(waitFor, subtasks)] : [];

const subagent = (begin: NonNullable<Turn["subtask"]>): Tool =>
  createTool<{ readonly prompt: string }>({
    name: "subagent",
    description:
      "Begins a subtask: independent work at the same time, which the user can follow. It knows nothing of this conversation, so the prompt has all that it needs. Begin all that can run at once, then use wait if your answer needs the results: you are not woken later.",
    properties: { prompt: { type: "string", minLength: 1, maxLength: promptMax } },
    required: ["prompt"],
    brief: ({ prompt }) => `Begin a subtask: ${prompt}`,
    async use({ prompt }) {
      const subtask = await begin(prompt);
      return { kind: "result", value: { task_id: subtask.id, status: "running" }, subtask };
    },
  });

/** The name of the tool that waits. */
export const waitName = "wait";

interface WaitInput {
  readonly task_ids?: readonly string[];
  readonly mode?: WaitMode;
  readonly timeout_seconds?: number;
}

/** Whether a use only looks, without a wait. */
const looks = (input: { readonly timeout_seconds?: unknown }): boolean => input.timeout_seconds === 0;

const wait = (waitFor: NonNullable<Turn["waitFor"]>, subtasks: NonNullable<Turn["subtasks"]>): Tool =>
  createTool<WaitInput>({
    name: waitName,
    description:
      "Waits until subtasks have ended, and returns their states, last messages, values and files. `waiting` means for the user, and is no end. A message of the user ends it too. With timeout_seconds 0 it only looks: without ids at the newest 20, with one id also at its messages.",
    properties: {
      task_ids: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 64 },
        maxItems: waitedMax,
        uniqueItems: true,
      },
      mode: { type: "string", enum: ["all", "any"] },
      timeout_seconds: { type: "integer", minimum: 0, maximum: waitMsMax / 1000 },
    },
    required: [],
    isForeign: "subtasks",
    reads: looks,
    brief: ({ mode, ...input }) =>
      looks(input) ? "Look at the subtasks" : mode === "any" ? "Wait for a subtask" : "Wait for the subtasks",
    async use({ task_ids: taskIds, mode = "all", timeout_seconds: timeoutSeconds }, { waitsBefore }) {
      if (timeoutSeconds === 0) return look(subtasks, taskIds);
      const limit = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 };
      const wait = await waitFor({ mode, ...limit, ...(taskIds ? { subtasks: taskIds } : {}) }, waitsBefore);
      return "kind" in wait
        ? { kind: "end", outcome: wait }
        : successResult(waitedStates(wait.reason, wait.subtasks));
    },
  });

/** Shows subtasks as they are: the newest ones, or those of the ids; one alone with its messages. */
async function look(
  { list, open }: NonNullable<Turn["subtasks"]>,
  taskIds: readonly string[] | undefined,
): Promise<ToolResult> {
  if (!taskIds) return successResult({ subtasks: subtaskStates(await list()) });
  const states: Json[] = [];
  for (const id of taskIds.slice(0, 20)) {
    const task = await open(id);
    if (!task) return errorResult(`task_ids: ${id} is not a subtask of this task`);
    const { title, status } = task;
    const messages = taskIds.length > 1 ? {} : { messages: await readTask(task, { action: "read" }) };
    states.push({ task_id: id, title, status, ...messages });
  }
  return successResult({ subtasks: states });
}

/** The most characters of all messages in the result of a wait: the result of a tool has at most 32,000. */
const saidMax = 24_000;

/** The results of a wait, for a model. */
export const waitedStates = (reason: WaitReason, subtasks: readonly WaitedSubtask[]): Json => ({
  reason,
  subtasks: subtasks.map(({ id, title, status, lastMessage, output, files }) => ({
    task_id: id,
    title,
    status,
    ...(lastMessage === "" ? {} : { said_last: head(lastMessage, Math.floor(saidMax / subtasks.length)) }),
    ...defined({ output }),
    ...(files.length === 0 ? {} : { files: files.map(({ filename }) => filename) }),
  })),
});

export const subtaskStates = (states: readonly SubtaskState[]): Json =>
  states.map(({ id, title, status, createdAt, lastMessage }) => ({
    task_id: id,
    title,
    status,
    begun_at: new Date(createdAt).toISOString(),
    ...(lastMessage === "" ? {} : { said_last: lastMessage }),
  }));
