import { defined } from "../../../../core/defined.ts";
import type { Json } from "../../../../core/json.ts";
import type { References } from "../../../../core/tasks/message.ts";
import { type WaitMode, type WaitReason, waitedMax, waitMsMax } from "../../../../core/tasks/subtask-wait.ts";
import type { SubtaskState } from "../../../../core/tasks/subtasks.ts";
import type { Turn, WaitedSubtask } from "../../../agent.ts";
import { head, type Tool } from "../tool.ts";
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

const messageMax = 20_000;

/** The tools that begin, await and read subtasks; not in a subtask that is three deep (spec/api.md 8.80). */
export const subtaskTools = ({
  subtask,
  subtasks,
  waitFor,
}: Pick<Turn, "subtask" | "subtasks" | "waitFor">): readonly Tool[] =>
  subtask && subtasks && waitFor
    ? [startSubtask(subtask), waitForSubtasks(waitFor), listSubtasks(subtasks), readSubtask(subtasks)]
    : [];

const startSubtask = (begin: NonNullable<Turn["subtask"]>): Tool =>
  createTool<{ readonly message: string }>({
    name: "start_subtask",
    description:
      "Begins a subtask: independent work in parallel to this conversation, which the user can follow and steer. It knows nothing of this conversation, so its message has to contain everything it needs. You receive its id at once. When you need results for your answer, begin everything that can run at the same time and then use wait_for_subtasks. Otherwise end your turn: you are not woken when it is done, and your next turn shows its state.",
    properties: { message: { type: "string", minLength: 1, maxLength: messageMax } },
    required: ["message"],
    brief: ({ message }) => `Begin a subtask: ${message}`,
    async use({ message }) {
      const subtask = await begin(message);
      return { kind: "result", value: { task_id: subtask.id, status: "running" }, subtask };
    },
  });

/** The name of the tool that waits. */
export const waitName = "wait_for_subtasks";

interface WaitInput {
  readonly task_ids?: readonly string[];
  readonly mode?: WaitMode;
  readonly timeout_seconds?: number;
}

const waitForSubtasks = (waitFor: NonNullable<Turn["waitFor"]>): Tool =>
  createTool<WaitInput>({
    name: waitName,
    description:
      "Waits until your subtasks have ended, and returns their results: state, last message, structured output and names of files. You work on nothing in the meantime, so begin all subtasks first. A subtask with the status `waiting` waits for the user and has not ended. `reason` says why the wait is over: `ended`, `timeout`, or `message` when the user has written; that message comes after this turn, so finish soon.",
    properties: {
      task_ids: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 64 },
        maxItems: waitedMax,
        uniqueItems: true,
        description: "The subtasks to wait for. Leave it out for all whose end you have not been given.",
      },
      mode: {
        type: "string",
        enum: ["all", "any"],
        description: "Wait until all of them have ended (the default), or any one.",
      },
      timeout_seconds: {
        type: "integer",
        minimum: 1,
        maximum: waitMsMax / 1000,
        description: "The longest time to wait.",
      },
    },
    required: [],
    isForeign: "subtasks",
    brief: ({ mode }) => (mode === "any" ? "Wait for a subtask" : "Wait for the subtasks"),
    async use({ task_ids: taskIds, mode = "all", timeout_seconds: timeoutSeconds }, { waitsBefore }) {
      const limit = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 };
      const wait = await waitFor({ mode, ...limit, ...(taskIds ? { subtasks: taskIds } : {}) }, waitsBefore);
      return "kind" in wait
        ? { kind: "end", outcome: wait }
        : successResult(waitedStates(wait.reason, wait.subtasks));
    },
  });

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

const listSubtasks = ({ list }: NonNullable<Turn["subtasks"]>): Tool =>
  createTool<object>({
    name: "list_subtasks",
    description:
      "Shows the current states of your newest subtasks, 20 at most: status and last message. Subtasks with the status `waiting` wait for the user.",
    properties: {},
    required: [],
    reads: () => true,
    isForeign: "subtasks",
    brief: () => "Look at the subtasks",
    use: async () => successResult(subtaskStates(await list())),
  });

const readSubtask = ({ open }: NonNullable<Turn["subtasks"]>): Tool =>
  createTool<TaskReading & { readonly task_id: string }>({
    name: "read_subtask",
    description: `Reads a subtask of yours by its id. ${taskReadingUse}`,
    properties: taskReadingSchemas,
    required: ["task_id", "action"],
    reads: () => true,
    inParts: true,
    isForeign: "subtasks",
    brief: ({ action }) => `${action === "search" ? "Search" : "Read"} a subtask`,
    async use({ task_id: id, ...reading }) {
      const task = await open(id);
      return task ? successResult(await readTask(task, reading)) : errorResult("subtask not found");
    },
  });
