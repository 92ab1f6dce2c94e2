import { type Task, TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import type { Conversation } from "../../gen/proto/task/v2/task_service_pb.ts";
import { outputOf } from "./output.ts";

/** v1's words for what a task does (contract/v1.md 4.4). */
const words: ReadonlyMap<TaskStatus, string> = new Map([
  [TaskStatus.RUNNING, "running"],
  [TaskStatus.WAITING, "pending"],
  [TaskStatus.STOPPED, "completed"],
  [TaskStatus.ERROR, "failed"],
]);

/** v1's words as a list takes them: `error` is what the SDK guide calls `failed`. */
export const statusWords: Readonly<Record<string, TaskStatus>> = {
  ...Object.fromEntries([...words].map(([status, word]) => [word, status])),
  error: TaskStatus.ERROR,
};

/** A task as v1 shows it, with all that was said in it (contract/v1.md 4.3). */
export const taskObject = ({ task, messages }: Conversation) => (task ? { ...stateOf(task), ...saidIn(task, messages) } : {});

const stateOf = ({ id, createdAt, updatedAt, status, agentProfile, title, taskUrl, creditUsage }: Task) => ({
  id,
  object: "task",
  created_at: Number(createdAt),
  updated_at: Number(updatedAt),
  status: words.get(status),
  model: `${agentProfile}-agent`,
  metadata: { task_title: title, task_url: taskUrl },
  ...(creditUsage === undefined ? {} : { credit_usage: creditUsage }),
});

/** `instructions` is the first message, where the list goes back so far; `error` what a failed turn said last. */
function saidIn({ status }: Task, messages: Conversation["messages"]) {
  const first = messages.find(({ seq }) => seq === 1)?.payload;
  const last = messages.at(-1)?.payload;
  return {
    ...(first?.case === "userMessage" ? { instructions: first.value.content } : {}),
    ...(status === TaskStatus.ERROR && last?.case === "errorMessage" ? { error: last.value.content } : {}),
    output: outputOf(messages),
  };
}
