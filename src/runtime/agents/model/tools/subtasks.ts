import type { Json } from "../../../../core/json.ts";
import type { References } from "../../../../core/tasks/message.ts";
import type { SubtaskState } from "../../../../core/tasks/subtasks.ts";
import type { Turn } from "../../../agent.ts";
import type { Tool } from "../tool.ts";
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
    brief: ({ action }) => `${action === "search" ? "Search" : "Read"} a referenced task`,
    async use({ task_id: id, ...reading }, { turn }) {
      const task = await turn.references.open(id);
      return task ? successResult(await readTask(task, reading)) : errorResult("task not found");
    },
  });

const messageMax = 20_000;

/** The tools that begin and read subtasks; only in an agent's main task (spec/api.md 9.11). */
export const subtaskTools = ({ subtask, subtasks }: Pick<Turn, "subtask" | "subtasks">): readonly Tool[] =>
  subtask && subtasks ? [startSubtask(subtask), listSubtasks(subtasks), readSubtask(subtasks)] : [];

const startSubtask = (begin: NonNullable<Turn["subtask"]>): Tool =>
  createTool<{ readonly message: string }>({
    name: "start_subtask",
    description:
      "Begins a subtask: independent work in parallel to this conversation, which the user can follow and steer. It knows nothing of this conversation, so its message has to contain everything it needs. You receive its id at once. It can take long: do not wait for it, but end your turn. You are not woken when it is done; your next turn shows its state.",
    properties: { message: { type: "string", minLength: 1, maxLength: messageMax } },
    required: ["message"],
    brief: ({ message }) => `Begin a subtask: ${message}`,
    async use({ message }) {
      const subtask = await begin(message);
      return { kind: "result", value: { task_id: subtask.id, status: "running" }, subtask };
    },
  });

/** The states of subtasks, for a model. */
export const subtaskStates = (states: readonly SubtaskState[]): Json =>
  states.map(({ id, title, status, createdAt, lastMessage: said }) => ({
    ...{ task_id: id, title, status, begun_at: new Date(createdAt).toISOString() },
    ...(said === "" ? {} : { said_last: said }),
  }));

const listSubtasks = ({ list }: NonNullable<Turn["subtasks"]>): Tool =>
  createTool<object>({
    name: "list_subtasks",
    description:
      "Shows the current states of your newest subtasks, 20 at most: status and last message. Subtasks with the status `waiting` wait for the user.",
    properties: {},
    required: [],
    brief: () => "Look at the subtasks",
    use: async () => successResult(subtaskStates(await list())),
  });

const readSubtask = ({ open }: NonNullable<Turn["subtasks"]>): Tool =>
  createTool<TaskReading & { readonly task_id: string }>({
    name: "read_subtask",
    description: `Reads a subtask of yours by its id. ${taskReadingUse}`,
    properties: taskReadingSchemas,
    required: ["task_id", "action"],
    brief: ({ action }) => `${action === "search" ? "Search" : "Read"} a subtask`,
    async use({ task_id: id, ...reading }) {
      const task = await open(id);
      return task ? successResult(await readTask(task, reading)) : errorResult("subtask not found");
    },
  });
