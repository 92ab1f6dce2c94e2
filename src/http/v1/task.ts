import type { MessageShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { ShareVisibility, SortOrder, type Task } from "../../gen/proto/task/v2/task_pb.ts";
import { ConversationOrder, TaskService, type UpdateTaskResponseSchema } from "../../gen/proto/task/v2/task_service_pb.ts";
import { filled, listOf, present, seconds, whole, wordOf } from "./fields.ts";
import { beginningOrGoingOn, unused } from "./input-shape.ts";
import { messageFields, messageOf, messagePath, messageRule } from "./message.ts";
import { profileFields, profileIn } from "./profile.ts";
import { type Ask, compound, route } from "./route.ts";
import { shareUrlOf } from "./share.ts";
import { statusWords, taskObject } from "./task-object.ts";

const newTask = z.object({
  ...messageFields,
  ...profileFields,
  task_id: filled,
  project_id: filled,
  interactive_mode: z.boolean().default(false),
  create_shareable_link: z.boolean().default(false),
  hide_in_task_list: z.boolean().default(false),
  locale: filled,
  // Every task runs as an agent.
  task_mode: unused,
});
/** These stay as they are when a task goes on (contract/v1.md 9). */
const followUp = newTask.extend({ project_id: unused, locale: unused, interactive_mode: unused, hide_in_task_list: unused });
type NewTask = z.output<typeof newTask>;

const one = z.object({ task_id: z.string() });
/** A task is answered as it is: files of slides are converted in no other form yet. */
const shown = one.extend({ convert: unused });
const edit = one.extend({
  title: z.string().optional(),
  enable_shared: z.boolean().optional(),
  enable_visible_in_task_list: z.boolean().optional(),
});

const listed = z.object({
  limit: whole.optional(),
  after: filled,
  order: wordOf({ asc: SortOrder.ASC, desc: SortOrder.DESC }).optional(),
  order_by: wordOf({ created_at: ConversationOrder.CREATED_AT, updated_at: ConversationOrder.UPDATED_AT }).optional(),
  query: filled,
  status: listOf(wordOf(statusWords)).default([]),
  created_after: seconds.optional(),
  created_before: seconds.optional(),
  project_id: filled,
});

/** Fields of ListConversations by their names in v1. */
const listedNames: Readonly<Record<string, string>> = { after_task_id: "after", statuses: "status" };

/** Tasks of v1 (contract/v1.md 4). */
export const taskRoutes = [
  {
    ...compound(
      "POST /v1/tasks",
      TaskService.method.createTask,
      newTask,
      (input, ask) => (input.task_id === undefined ? create(input, ask) : goOn(input.task_id, input, ask)),
      messagePath,
      messageRule,
    ),
    takes: beginningOrGoingOn(newTask, followUp, ["task_id"]),
  },
  route("GET /v1/tasks", TaskService.method.listConversations, listed, {
    request: ({ status: statuses, after, order_by, created_after, created_before, project_id, ...same }) =>
      present({
        ...same,
        ...{ statuses, afterTaskId: after, orderBy: order_by, projectId: project_id },
        ...{ createdAfter: created_after, createdBefore: created_before },
      }),
    response({ data, hasMore }) {
      const ids = data.map(({ task }) => task?.id);
      return { object: "list", data: data.map(taskObject), first_id: ids.at(0), last_id: ids.at(-1), has_more: hasMore };
    },
    named: (path) => listedNames[path] ?? path,
  }),
  route("GET /v1/tasks/{task_id}", TaskService.method.getConversation, shown, {
    request: ({ task_id: taskId }) => ({ taskId }),
    response: ({ conversation }) => (conversation ? taskObject(conversation) : {}),
  }),
  route("PUT /v1/tasks/{task_id}", TaskService.method.updateTask, edit, {
    request: ({ task_id: taskId, title, enable_shared: shared, enable_visible_in_task_list: enableVisibleInTaskList }) => ({
      ...present({ taskId, title, enableVisibleInTaskList }),
      ...(shared === undefined ? {} : { shareVisibility: shared ? ShareVisibility.PUBLIC : ShareVisibility.PRIVATE }),
    }),
    response: (answer) => changed(answer),
  }),
  route("DELETE /v1/tasks/{task_id}", TaskService.method.deleteTask, one, {
    request: ({ task_id: taskId }) => ({ taskId, stop: true }),
    response: ({ id, deleted }) => ({ id, object: "task.deleted", deleted }),
  }),
];

async function create(input: NewTask, ask: Ask): Promise<object> {
  const { interactive_mode: interactiveMode, hide_in_task_list: hideInTaskList, project_id: projectId, locale } = input;
  const made = await ask(TaskService.method.createTask, {
    ...{ message: messageOf(input), interactiveMode, hideInTaskList },
    ...present({ projectId, locale }),
    ...profileIn(input),
    ...(input.create_shareable_link ? { shareVisibility: ShareVisibility.PUBLIC } : {}),
  });
  return changed(made);
}

/** A follow-up: the project stays as it is, the profile counts from this turn on (contract/v1.md 9). */
async function goOn(taskId: string, input: NewTask, ask: Ask): Promise<object> {
  const sent = await ask(TaskService.method.sendMessage, { taskId, message: messageOf(input), ...profileIn(input) });
  if (input.create_shareable_link)
    return changed(await ask(TaskService.method.updateTask, { taskId: sent.taskId, shareVisibility: ShareVisibility.PUBLIC }));
  const { task } = await ask(TaskService.method.getTask, { taskId: sent.taskId });
  return task ? summary(task) : {};
}

/** What v1 answers to whatever makes or changes a task. */
const changed = ({ taskId, taskTitle, taskUrl, shareUrl }: Omit<MessageShape<typeof UpdateTaskResponseSchema>, "$typeName">) => ({
  task_id: taskId,
  task_title: taskTitle,
  task_url: taskUrl,
  share_url: shareUrl,
});

const summary = (task: Task) => ({ task_id: task.id, task_title: task.title, task_url: task.taskUrl, share_url: shareUrlOf(task) });
