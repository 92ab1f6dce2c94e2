import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { Conversation, ConversationFilter, Conversations } from "../core/tasks/conversations.ts";
import type { TaskView } from "../core/tasks/task.ts";
import { SortOrder, type TaskSchema } from "../gen/proto/task/v2/task_pb.ts";
import {
  ConversationOrder,
  type ConversationSchema,
  type ListConversationsRequest,
  type TaskService,
} from "../gen/proto/task/v2/task_service_pb.ts";
import { eventMessage, type Link } from "./event.ts";
import { taskStatus } from "./task-words.ts";

/** Tasks with what was said in them, as v1 and the Responses API show them. */
export function conversationHandlers(
  conversations: Conversations,
  taskMessage: (task: TaskView) => MessageInitShape<typeof TaskSchema>,
  link: Link,
): Pick<Handlers<typeof TaskService>, "getConversation" | "listConversations"> {
  const toMessage = ({ task, messages }: Conversation): MessageInitShape<typeof ConversationSchema> => ({
    task: taskMessage(task),
    messages: messages.map((event) => eventMessage(event, link)),
  });

  return {
    async getConversation(tx, caller, { taskId }) {
      return { conversation: toMessage(await conversations.get(tx, caller, taskId)) };
    },
    async listConversations(tx, caller, request) {
      const { limit = 100, afterTaskId } = request;
      const orderBy = request.orderBy === ConversationOrder.UPDATED_AT ? "updatedAt" : "createdAt";
      const order = request.order === SortOrder.ASC ? "asc" : "desc";
      const { items, hasMore } = await conversations.list(tx, caller, filterOf(request), { limit, afterTaskId, orderBy, order });
      return { data: items.map(toMessage), hasMore };
    },
  };
}

/** The unspecified status and an empty text are as good as none. */
const filterOf = ({ query, statuses, createdAfter, createdBefore, projectId }: ListConversationsRequest): ConversationFilter => ({
  ...(query ? { query } : {}),
  statuses: statuses.flatMap((status) => taskStatus.toWord(status) ?? []),
  ...(createdAfter === undefined ? {} : { createdAfter: milliseconds(createdAfter) }),
  ...(createdBefore === undefined ? {} : { createdBefore: milliseconds(createdBefore) }),
  ...(projectId ? { projectId } : {}),
});

/** Times that no number holds lie behind all there are. */
const milliseconds = (seconds: bigint): number => Math.min(Number(seconds) * 1000, Number.MAX_SAFE_INTEGER);
