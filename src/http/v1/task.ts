import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { z } from "zod";
import type { JsonObject } from "../../core/json.ts";
import { ContentPartType, type MessageSchema } from "../../gen/proto/task/v2/message_pb.ts";
import { PermissionDecision } from "../../gen/proto/task/v2/permission_pb.ts";
import { ShareVisibility, SortOrder, type Task } from "../../gen/proto/task/v2/task_pb.ts";
import {
  ConversationOrder,
  TaskService,
  type UpdateTaskResponseSchema,
} from "../../gen/proto/task/v2/task_service_pb.ts";
import {
  integer,
  listOf,
  namedValue,
  optionalText,
  profileFields,
  profileIn,
  seconds,
  withoutUndefined,
} from "./fields.ts";
import { startOrContinueShape, unused } from "./input.ts";
import { compound, type Invoke, route } from "./route.ts";
import { shareUrlOf, taskObject, taskStatuses } from "./task-object.ts";

/** The members of a request that make a message (spec/v1.md 4.1, 4.2). */
const messageFields = {
  prompt: z.string(),
  attachments: z
    .array(
      z.object({
        filename: z.string().optional(),
        file_id: z.string().optional(),
        url: z.string().optional(),
        file_data: z.string().optional(),
        data: z.string().optional(),
        mime_type: z.string().optional(),
      }),
    )
    .default([]),
  connectors: z.array(z.string()).default([]),
};

type MessageInput = z.output<z.ZodObject<typeof messageFields>>;

/** The prompt, followed by each attachment as a file part. */
const messageOf = ({
  prompt,
  attachments,
  connectors,
}: MessageInput): MessageInitShape<typeof MessageSchema> => ({
  content: [{ type: ContentPartType.TEXT, text: prompt }, ...attachments.map(filePart)],
  connectors,
});

/**
 * `data` next to `filename` is read as `file_data` (spec/decisions.md 50); v1 has no `data` without a name.
 */
const filePart = ({
  filename,
  file_id,
  url,
  data,
  mime_type,
  ...rest
}: MessageInput["attachments"][number]) => {
  const file_data = rest.file_data ?? (filename === undefined ? undefined : data);
  return {
    type: ContentPartType.FILE,
    ...withoutUndefined({
      filename,
      fileId: file_id,
      fileUrl: url,
      fileData: file_data,
      mimeType: mime_type,
    }),
  };
};

/**
 * The v1 path of a field of such a message: the first part is the prompt, the others are attachments, whose
 * bytes can be `data`.
 */
function messagePath(path: string, { attachments }: JsonObject): string {
  if (path === "agent_profile") return "agentProfile";
  const [, index, member] = /^message\.content\[(\d+)\](.*)$/.exec(path) ?? [];
  if (index !== undefined && index !== "0") {
    const at = Number(index) - 1;
    const isData =
      member === ".file_data" &&
      Array.isArray(attachments) &&
      !Object.hasOwn(Object(attachments[at]), "file_data");
    return `attachments[${at}]${isData ? ".data" : member === ".file_url" ? ".url" : member}`;
  }
  return path.replace(/^message\.content.*$/, "prompt").replace(/^message\./, "");
}

/** A rule about such a message, with the names of v1: v2's `file_url` is `url` here. */
const messageRule = (rule: string): string => rule.replaceAll("file_url", "url");

/** Rules for uses of tools (spec/api.md 9.15). */
const permissions = z
  .array(
    z
      .object({
        tool: z.string(),
        pattern: z.string().default(""),
        decision: namedValue({
          allow: PermissionDecision.ALLOW,
          ask: PermissionDecision.ASK,
          deny: PermissionDecision.DENY,
        }),
        each_time: z.boolean().default(false),
      })
      .transform(({ each_time: eachTime, ...rule }) => ({ ...rule, eachTime })),
  )
  .optional();

const newTask = z.object({
  ...messageFields,
  ...profileFields,
  task_id: optionalText,
  project_id: optionalText,
  interactive_mode: z.boolean().default(false),
  create_shareable_link: z.boolean().default(false),
  hide_in_task_list: z.boolean().default(false),
  locale: optionalText,
  permissions,
  // Every task runs as an agent.
  task_mode: unused,
});
/** A follow-up does not change the members marked unused (spec/v1.md 9). */
const followUp = newTask.extend({
  project_id: unused,
  locale: unused,
  permissions: unused,
  interactive_mode: unused,
  hide_in_task_list: unused,
});
type NewTask = z.output<typeof newTask>;

const one = z.object({ task_id: z.string() });
/** The query of one task. `convert` has no effect: slides are not converted to another format. */
const taskQuery = one.extend({ convert: unused });
const edit = one.extend({
  title: z.string().optional(),
  enable_shared: z.boolean().optional(),
  enable_visible_in_task_list: z.boolean().optional(),
  permissions,
  clear_permissions: z.boolean().optional(),
});

const taskList = z.object({
  limit: integer.optional(),
  after: optionalText,
  order: namedValue({ asc: SortOrder.ASC, desc: SortOrder.DESC }).optional(),
  order_by: namedValue({
    created_at: ConversationOrder.CREATED_AT,
    updated_at: ConversationOrder.UPDATED_AT,
  }).optional(),
  query: optionalText,
  status: listOf(namedValue(taskStatuses)).default([]),
  created_after: seconds.optional(),
  created_before: seconds.optional(),
  project_id: optionalText,
});

/** By their names in v1. */
const listNames: Readonly<Record<string, string>> = { after_task_id: "after", statuses: "status" };

/** Tasks of v1 (spec/v1.md 4). */
export const taskRoutes = [
  {
    ...compound(
      "POST /v1/tasks",
      TaskService.method.createTask,
      newTask,
      (input, ask) =>
        input.task_id === undefined ? create(input, ask) : followUpTask(input.task_id, input, ask),
      messagePath,
      messageRule,
    ),
    accepts: startOrContinueShape(newTask, followUp, ["task_id"]),
  },
  route("GET /v1/tasks", TaskService.method.listConversations, taskList, {
    request: ({ status, after, order_by, created_after, created_before, project_id, ...same }) =>
      withoutUndefined({
        ...same,
        statuses: status,
        afterTaskId: after,
        orderBy: order_by,
        projectId: project_id,
        createdAfter: created_after,
        createdBefore: created_before,
      }),
    response({ data, hasMore }) {
      const ids = data.map(({ task }) => task?.id);
      return {
        object: "list",
        data: data.map(taskObject),
        first_id: ids.at(0),
        last_id: ids.at(-1),
        has_more: hasMore,
      };
    },
    nameField: (path) => listNames[path] ?? path,
  }),
  route("GET /v1/tasks/{task_id}", TaskService.method.getConversation, taskQuery, {
    request: ({ task_id: taskId }) => ({ taskId }),
    response: ({ conversation }) => (conversation ? taskObject(conversation) : {}),
  }),
  route("PUT /v1/tasks/{task_id}", TaskService.method.updateTask, edit, {
    request: ({
      task_id: taskId,
      title,
      enable_shared: enableShared,
      enable_visible_in_task_list: enableVisibleInTaskList,
      permissions,
      clear_permissions: clearPermissions,
    }) => ({
      ...withoutUndefined({ taskId, title, enableVisibleInTaskList, permissions, clearPermissions }),
      ...(enableShared === undefined
        ? {}
        : { shareVisibility: enableShared ? ShareVisibility.PUBLIC : ShareVisibility.PRIVATE }),
    }),
    response: (answer) => changed(answer),
  }),
  route("DELETE /v1/tasks/{task_id}", TaskService.method.deleteTask, one, {
    request: ({ task_id: taskId }) => ({ taskId, stop: true }),
    response: ({ id, deleted }) => ({ id, object: "task.deleted", deleted }),
  }),
];

async function create(input: NewTask, ask: Invoke): Promise<object> {
  const {
    interactive_mode: interactiveMode,
    hide_in_task_list: hideInTaskList,
    project_id: projectId,
    locale,
    permissions,
  } = input;
  const made = await ask(TaskService.method.createTask, {
    message: messageOf(input),
    interactiveMode,
    hideInTaskList,
    ...withoutUndefined({ projectId, locale, permissions }),
    ...profileIn(input),
    ...(input.create_shareable_link ? { shareVisibility: ShareVisibility.PUBLIC } : {}),
  });
  return changed(made);
}

/** Sends a follow-up: the project does not change, the profile applies from this turn on (spec/v1.md 9). */
async function followUpTask(taskId: string, input: NewTask, ask: Invoke): Promise<object> {
  const sent = await ask(TaskService.method.sendMessage, {
    taskId,
    message: messageOf(input),
    ...profileIn(input),
  });
  if (input.create_shareable_link)
    return changed(
      await ask(TaskService.method.updateTask, {
        taskId: sent.taskId,
        shareVisibility: ShareVisibility.PUBLIC,
      }),
    );
  const { task } = await ask(TaskService.method.getTask, { taskId: sent.taskId });
  return task ? summary(task) : {};
}

/** v1's answer to an operation that creates or changes a task. */
const changed = ({
  taskId,
  taskTitle,
  taskUrl,
  shareUrl,
}: Omit<MessageShape<typeof UpdateTaskResponseSchema>, "$typeName">) => ({
  task_id: taskId,
  task_title: taskTitle,
  task_url: taskUrl,
  share_url: shareUrl,
});

const summary = (task: Task) => ({
  task_id: task.id,
  task_title: task.title,
  task_url: task.taskUrl,
  share_url: shareUrlOf(task),
});
