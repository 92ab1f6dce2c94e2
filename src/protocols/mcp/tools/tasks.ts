import {
  type ContentPartInput,
  isQuestion,
  type MessageInput,
  type Task,
} from "../../../../packages/client/src/index.ts";
import { Failure } from "../../../core/failure.ts";
import { readTask, waitingOf } from "../../shared/turn.ts";
import { jsonResult } from "../results.ts";
import { callWith, filled, membersOf, optional, texts, whole } from "./input.ts";
import { settle } from "./settle.ts";
import { type Tool, toolOf } from "./tool.ts";

/** Without `after_seq`, a wait shows at most this number of events before it. */
const shownBefore = 50;

const usualSeconds = 45;
const bounds = { minimum: 0, maximum: 600, default: usualSeconds };
const waitSeconds = optional(
  whole(bounds.minimum, bounds.maximum, {
    ...bounds,
    description:
      "Seconds to wait for the end of the turn. The task continues after that; task_wait waits again.",
  }),
  usualSeconds,
);
const taskId = filled("Id of the task.");
const messageMembers = {
  message: filled("Text of the message."),
  file_ids: texts("Ids of uploaded files to attach, from file_upload or file_list."),
  force_skills: optional(texts("Ids of skills that the agent must use, from skill_list.")),
  connectors: optional(
    texts("Ids of connectors that the task can use. Default: those of the project or the account."),
  ),
};

/** The tools that create tasks, steer them and wait for them. */
export const taskTools = (): readonly Tool[] => [
  createTask(),
  sendMessage,
  answerQuestion,
  waitForTask,
  searchTasks(),
];

const createTask = (): Tool =>
  toolOf(
    {
      name: "task_create",
      operation: "task.create",
      title: "Create a task and wait for its result",
      description:
        "Gives work to an autonomous agent and waits for the result. The agent works alone, with its own tools and files. The result has the messages of the agent, the state of the task, and the next step.",
      members: {
        ...messageMembers,
        ...membersOf("task.create", [
          "title",
          "project_id",
          "agent_profile",
          "interactive_mode",
          "structured_output_schema",
          "metadata",
          "permissions",
        ]),
        wait_seconds: waitSeconds,
      },
      required: ["message"],
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    async (client, { message, file_ids, force_skills, connectors, wait_seconds, ...more }, use) => {
      if (use.resumed) return settle(client, use.resumed, use, wait_seconds);
      const lists = { ...(force_skills && { force_skills }), ...(connectors && { connectors }) };
      const request = {
        interactive_mode: true,
        ...more,
        message: messageOf({ message, file_ids, ...lists }),
      };
      const { task_id: id } = await client.call("task.create", request);
      return settle(client, { taskId: id, seq: 0 }, use, wait_seconds);
    },
  );

const sendMessage = toolOf(
  {
    name: "task_send_message",
    operation: "task.sendMessage",
    title: "Send a message to a task and wait for its result",
    description:
      "Starts the next turn of a task, or adds to the present one, and waits for the result. A message to a task that waits for an approval drops the action.",
    members: { task_id: taskId, ...messageMembers, wait_seconds: waitSeconds },
    required: ["task_id", "message"],
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  },
  async (client, { task_id, wait_seconds, ...message }, use) => {
    if (use.resumed) return settle(client, use.resumed, use, wait_seconds);
    const task = await readTask(client, task_id);
    await client.tasks.sendMessage({ task_id: task.id, message: messageOf(message) });
    return settle(client, turnAfter(task), use, wait_seconds);
  },
);

const answerQuestion = toolOf(
  {
    name: "task_answer",
    operation: "task.sendMessage",
    title: "Answer the question of a task",
    description:
      "Answers the question for which a task waits, and waits for the result. It does not decide approvals.",
    members: { task_id: taskId, answer: filled("The answer."), wait_seconds: waitSeconds },
    required: ["task_id", "answer"],
    annotations: { readOnlyHint: false, destructiveHint: false },
  },
  async (client, { task_id, answer, wait_seconds }, use) => {
    if (use.resumed) return settle(client, use.resumed, use, wait_seconds);
    const task = await readTask(client, task_id);
    const waiting = waitingOf(task);
    if (!waiting || !isQuestion(waiting))
      throw new Failure(
        "failed_precondition",
        "task_id: the task does not wait for an answer to a question",
        { path: "task_id" },
      );
    await client.tasks.sendMessage({ task_id: task.id, message: { content: answer } });
    return settle(client, turnAfter(task), use, wait_seconds);
  },
);

const waitForTask = toolOf(
  {
    name: "task_wait",
    operation: "task.watch",
    title: "Wait for a task",
    description:
      "Waits until a task has finished, failed or waits for its user. Progress is sent as notifications.",
    members: {
      task_id: taskId,
      after_seq: optional(
        whole(0, 2 ** 31 - 1, {
          minimum: 0,
          description: "Only messages after this event: last_seq of an earlier result.",
        }),
      ),
      wait_seconds: waitSeconds,
    },
    required: ["task_id"],
    annotations: { readOnlyHint: true },
  },
  async (client, { task_id, after_seq, wait_seconds }, use) => {
    if (use.resumed) return settle(client, use.resumed, use, wait_seconds);
    const { id, last_seq } = await readTask(client, task_id);
    return settle(
      client,
      { taskId: id, seq: after_seq ?? Math.max(0, last_seq - shownBefore) },
      use,
      wait_seconds,
    );
  },
);

const searchTasks = (): Tool =>
  toolOf(
    {
      name: "task_search",
      operation: "task.list",
      title: "Search tasks",
      description: "Finds tasks with all of these words in their title or messages, newest first.",
      members: { ...membersOf("task.list", ["query", "status", "project_id", "limit", "cursor"]) },
      required: ["query"],
      annotations: { readOnlyHint: true },
    },
    async (client, input) => {
      filled("").read(input.query, "query");
      return jsonResult(await callWith(client, "task.list", input));
    },
  );

/** A message of a text, files, skills and connectors. */
function messageOf({
  message,
  file_ids,
  ...more
}: Pick<MessageInput, "force_skills" | "connectors"> & {
  readonly message: string;
  readonly file_ids: readonly string[];
}): MessageInput {
  const files = file_ids.map((id): ContentPartInput => ({ type: "file", file_id: id }));
  return { content: files.length === 0 ? message : [{ type: "text", text: message }, ...files], ...more };
}

/** The turn that begins with the next event. */
const turnAfter = ({ id, last_seq }: Task) => ({ taskId: id, seq: last_seq });
