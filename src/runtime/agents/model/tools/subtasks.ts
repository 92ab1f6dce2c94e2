import type { Json } from "../../../../core/json.ts";
import type { SubtaskState } from "../../../../core/tasks/subtasks.ts";
import type { Turn } from "../../../agent.ts";
import type { Tool } from "../tool.ts";
import { readTask, type TaskReading, taskReadingSchemas, taskReadingUse } from "./reading/task.ts";
import { given, refused, toolOf } from "./tool-of.ts";

const messageMax = 20_000;

/** Begin subtasks, and see what becomes of them; there only in an agent's main task (contract/v2.md 9.11). */
export const subtaskTools = ({ subtask, subtasks }: Pick<Turn, "subtask" | "subtasks">): readonly Tool[] =>
  subtask && subtasks ? [startSubtask(subtask), listSubtasks(subtasks), readSubtask(subtasks)] : [];

const startSubtask = (begin: NonNullable<Turn["subtask"]>): Tool =>
  toolOf<{ readonly message: string }>({
    name: "start_subtask",
    description:
      "Begins a subtask: work on its own, beside this conversation, which the user can follow and steer. It knows nothing of this conversation, so its message says all that it needs. You are given its id at once. It takes its time: do not wait for it, but end your turn; nobody wakes you when it is done, and your next turn is told how it stands.",
    properties: { message: { type: "string", minLength: 1, maxLength: messageMax } },
    required: ["message"],
    brief: ({ message }) => `Begin a subtask: ${message}`,
    async use({ message }) {
      const made = await begin(message);
      return { kind: "result", value: { task_id: made.id, status: "running" }, subtask: made };
    },
  });

/** Subtasks as a model is told of them. */
export const shownSubtasks = (states: readonly SubtaskState[]): Json =>
  states.map(({ id, title, status, createdAt, said }) => ({
    ...{ task_id: id, title, status, begun_at: new Date(createdAt).toISOString() },
    ...(said === "" ? {} : { said_last: said }),
  }));

const listSubtasks = ({ list }: NonNullable<Turn["subtasks"]>): Tool =>
  toolOf<object>({
    name: "list_subtasks",
    description: "Tells how your newest subtasks stand now, 20 at most: status and what each said last. `waiting` ones wait for the user.",
    properties: {},
    required: [],
    brief: () => "Look at the subtasks",
    use: async () => given(shownSubtasks(await list())),
  });

const readSubtask = ({ open }: NonNullable<Turn["subtasks"]>): Tool =>
  toolOf<TaskReading & { readonly task_id: string }>({
    name: "read_subtask",
    description: `Reads a subtask of yours by its id. ${taskReadingUse}`,
    properties: taskReadingSchemas,
    required: ["task_id", "action"],
    brief: ({ action }) => `${action === "search" ? "Search" : "Read"} a subtask`,
    async use({ task_id: id, ...reading }) {
      const task = await open(id);
      return task ? given(await readTask(task, reading)) : refused("subtask not found");
    },
  });
