import { type Json, Refusal } from "../../shared/operations.ts";
import { isQuestion, readTask, waitingOf } from "../../shared/turn.ts";
import { jsonResult } from "../results.ts";
import { membersOf } from "./generated.ts";
import { checkMembers, numberIn, pick, textIn, textsIn } from "./input.ts";
import { settle } from "./settle.ts";
import { objectSchema as object, type Tool, type Use } from "./tool.ts";

const waitBounds = { least: 0, most: 600, usual: 45 };
/** Without `after_seq`, a wait shows at most this number of events before it. */
const shownBefore = 50;

const text = (description: string, more: Json = {}): Json => ({ type: "string", minLength: 1, description, ...more });
const ids = (description: string): Json => ({ type: "array", items: { type: "string" }, description });
const waitSeconds = {
  type: "integer",
  ...{ minimum: waitBounds.least, maximum: waitBounds.most, default: waitBounds.usual },
  description: "Seconds to wait for the end of the turn. The task continues after that; task_wait waits again.",
};
const taskId = text("Id of the task.");
const messageMembers = {
  message: text("Text of the message."),
  file_ids: ids("Ids of uploaded files to attach, from file_upload or file_list."),
  force_skills: ids("Ids of skills that the agent must use, from skill_list."),
  connectors: ids("Ids of connectors that the task can use. Default: those of the project or the account."),
};

/** The tools that create tasks, steer them and wait for them. */
export function taskTools(): readonly Tool[] {
  const creation = ["title", "project_id", "agent_profile", "interactive_mode", "structured_output_schema", "metadata"];
  const create = {
    name: "task_create",
    operation: "task.create",
    title: "Create a task and wait for its result",
    description:
      "Gives work to an autonomous agent and waits for the result. The agent works alone, with its own tools and files. The result has the messages of the agent, the state of the task, and the next step.",
    inputSchema: object({ ...messageMembers, ...membersOf("task.create", creation), wait_seconds: waitSeconds }, ["message"]),
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  };
  const send = {
    name: "task_send_message",
    operation: "task.sendMessage",
    title: "Send a message to a task and wait for its result",
    description:
      "Starts the next turn of a task, or adds to the present one, and waits for the result. A message to a task that waits for an approval drops the action.",
    inputSchema: object({ task_id: taskId, ...messageMembers, wait_seconds: waitSeconds }, ["task_id", "message"]),
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  };
  const answer = {
    name: "task_answer",
    operation: "task.sendMessage",
    title: "Answer the question of a task",
    description: "Answers the question for which a task waits, and waits for the result. It does not decide approvals.",
    inputSchema: object({ task_id: taskId, answer: text("The answer."), wait_seconds: waitSeconds }, ["task_id", "answer"]),
    annotations: { readOnlyHint: false, destructiveHint: false },
  };
  const wait = {
    name: "task_wait",
    operation: "task.watch",
    title: "Wait for a task",
    description: "Waits until a task has finished, failed or waits for its user. Progress is sent as notifications.",
    inputSchema: object(
      {
        task_id: taskId,
        after_seq: { type: "integer", minimum: 0, description: "Only messages after this event: last_seq of an earlier result." },
        wait_seconds: waitSeconds,
      },
      ["task_id"],
    ),
    annotations: { readOnlyHint: true },
  };
  const search = {
    name: "task_search",
    operation: "task.list",
    title: "Search tasks",
    description: "Finds tasks with all of these words in their title or messages, newest first.",
    inputSchema: object({ ...membersOf("task.list", ["query", "status", "project_id", "limit", "cursor"]) }, ["query"]),
    annotations: { readOnlyHint: true },
  };
  return [
    { ...create, run: (input, use) => createTask(checked(input, create), use) },
    { ...send, run: (input, use) => sendMessage(checked(input, send), use) },
    { ...answer, run: (input, use) => answerQuestion(checked(input, answer), use) },
    { ...wait, run: (input, use) => waitForTask(checked(input, wait), use) },
    {
      ...search,
      run: async (input, { operations, signal }) => {
        textIn(checked(input, search), "query");
        return jsonResult(await operations.call("task.list", input, signal));
      },
    },
  ];
}

function checked(input: Json, { inputSchema }: Pick<Tool, "inputSchema">): Json {
  checkMembers(input, inputSchema);
  return input;
}

/** A message of a text, files, skills and connectors. @throws Refusal */
function messageIn(input: Json): Json {
  const content = textIn(input, "message");
  const files = textsIn(input, "file_ids").map((id) => ({ type: "file", file_id: id }));
  return {
    content: files.length === 0 ? content : [{ type: "text", text: content }, ...files],
    ...pick(input, ["force_skills", "connectors"]),
  };
}

async function createTask(input: Json, use: Use): ReturnType<Tool["run"]> {
  const seconds = numberIn(input, "wait_seconds", waitBounds);
  if (use.resumed) return settle(use.resumed, use, seconds);
  const { message: _, file_ids, force_skills, connectors, wait_seconds, ...more } = input;
  const request = { interactive_mode: true, ...more, message: messageIn(input) };
  const { task_id } = await use.operations.call("task.create", request, use.signal);
  return settle({ taskId: String(task_id), seq: 0 }, use, seconds);
}

async function sendMessage(input: Json, use: Use): ReturnType<Tool["run"]> {
  const seconds = numberIn(input, "wait_seconds", waitBounds);
  const message = messageIn(input);
  if (use.resumed) return settle(use.resumed, use, seconds);
  const task = await readTask(use.operations, textIn(input, "task_id"), use.signal);
  await use.operations.call("task.sendMessage", { task_id: task["id"], message }, use.signal);
  return settle({ taskId: String(task["id"]), seq: Number(task["last_seq"]) }, use, seconds);
}

async function answerQuestion(input: Json, use: Use): ReturnType<Tool["run"]> {
  const seconds = numberIn(input, "wait_seconds", waitBounds);
  const answer = textIn(input, "answer");
  if (use.resumed) return settle(use.resumed, use, seconds);
  const task = await readTask(use.operations, textIn(input, "task_id"), use.signal);
  const waiting = waitingOf(task);
  if (!waiting || !isQuestion(waiting))
    throw new Refusal("failed_precondition", "task_id: the task does not wait for an answer to a question", { field: "task_id" });
  await use.operations.call("task.sendMessage", { task_id: task["id"], message: { content: answer } }, use.signal);
  return settle({ taskId: String(task["id"]), seq: Number(task["last_seq"]) }, use, seconds);
}

async function waitForTask(input: Json, use: Use): ReturnType<Tool["run"]> {
  const seconds = numberIn(input, "wait_seconds", waitBounds);
  if (use.resumed) return settle(use.resumed, use, seconds);
  const task = await readTask(use.operations, textIn(input, "task_id"), use.signal);
  const usual = Math.max(0, Number(task["last_seq"]) - shownBefore);
  const seq = numberIn(input, "after_seq", { least: 0, most: 2 ** 31 - 1, usual });
  return settle({ taskId: String(task["id"]), seq }, use, seconds);
}
