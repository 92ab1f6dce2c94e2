import type { MessageShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { type Conversation, TaskService } from "../../gen/proto/task/v2/task_service_pb.ts";
import { unused } from "../v1/input-shape.ts";
import { type Ask, compound, type Route, route } from "../v1/route.ts";
import { createResponse, creation, creationShape } from "./create.ts";
import { inputItemsPage, listInputItems } from "./input-items.ts";
import { responseOf } from "./response.ts";
import { type StreamParts, sendStream } from "./send-stream.ts";

const { createTask, deleteTask, getConversation, stopTask } = TaskService.method;

const named = z.object({ response_id: z.string() });

/** A query says its booleans in words. */
const retrieval = named.extend({
  stream: z.enum(["true", "false"]).default("false"),
  starting_after: z
    .string()
    .regex(/^\d{1,9}$/, { error: "must be a whole number from 0" })
    .transform(Number)
    .optional(),
  include: unused,
  include_obfuscation: unused,
});

/** Responses below a prefix (contract/v1.md 7): a response is a task with all that was said in it. */
export const responseRoutes = (prefix: "" | "/v1", parts: StreamParts): readonly Route[] => [
  {
    ...compound(`POST ${prefix}/responses`, createTask, creation, async (input, ask, reply) => {
      const taskId = await createResponse(ask, input);
      return input.stream ? sendStream(parts, ask, reply, { taskId }) : responseOf(await conversation(ask, taskId));
    }),
    takes: creationShape,
  },
  compound(`GET ${prefix}/responses/{response_id}`, getConversation, retrieval, async (input, ask, reply) => {
    const { response_id: taskId, stream, starting_after: startingAfter } = input;
    if (stream === "true") return sendStream(parts, ask, reply, { taskId, startingAfter });
    return responseOf(await conversation(ask, taskId));
  }),
  compound(`POST ${prefix}/responses/{response_id}/cancel`, stopTask, named, async ({ response_id: taskId }, ask) => {
    await ask(stopTask, { taskId });
    return responseOf(await conversation(ask, taskId));
  }),
  route(`DELETE ${prefix}/responses/{response_id}`, deleteTask, named, {
    request: ({ response_id: taskId }) => ({ taskId, stop: true }),
    response: ({ id, deleted }) => ({ id, object: "response.deleted", deleted }),
  }),
  route(`GET ${prefix}/responses/{response_id}/input_items`, getConversation, inputItemsPage, {
    request: ({ response_id: taskId }) => ({ taskId }),
    response: (answer, page) => listInputItems(held(answer).messages, page),
  }),
];

const conversation = async (ask: Ask, taskId: string): Promise<Conversation> => held(await ask(getConversation, { taskId }));

function held({ conversation }: MessageShape<typeof getConversation.output>): Conversation {
  if (!conversation) throw new Error("a conversation is answered with itself");
  return conversation;
}
