import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { Failure, invalidArgument, notFound, renameField } from "../../core/failure.ts";
import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { ShareVisibility } from "../../gen/proto/task/v2/task_pb.ts";
import { type SendMessageRequestSchema, TaskService } from "../../gen/proto/task/v2/task_service_pb.ts";
import { optionalText, profileFields, profileIn, withoutUndefined } from "../v1/fields.ts";
import { startOrContinueShape, unused } from "../v1/input.ts";
import { compound, type Invoke, type Route, route } from "../v1/route.ts";
import { answerHeld } from "./held-create.ts";
import { messageOf } from "./hosted-form.ts";
import { contentOf, inputItems, type MessagePart } from "./input.ts";
import { resolveItems } from "./item-references.ts";
import type { Form, Part } from "./items.ts";
import { chooseForm, chooseHold, type FormRule } from "./preferences.ts";
import { readConversation, responseOf } from "./response.ts";
import { type StreamParts, sendStream } from "./send-stream.ts";
import { outputSchemaOf, textOptions } from "./text-format.ts";
import { turnRequestOf } from "./turn-request.ts";

/** Members of the Responses API that have no effect: every response is stored, and uses the agent's tools. */
const unusedMembers = Object.fromEntries(
  [
    "access_programs",
    "context_management",
    "conversation",
    "image",
    "include",
    "max_output_tokens",
    "max_tool_calls",
    "moderation",
    "parallel_tool_calls",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
  ].map((name) => [name, unused]),
);

/**
 * The body of POST /responses; callers get warnings for other members (spec/v1.md 7.2, spec/decisions.md 51).
 */
const creation = z.object({
  input: inputItems,
  instructions: z.string().optional(),
  previous_response_id: optionalText,
  task_id: optionalText,
  ...profileFields,
  model: z.string().optional(),
  project_id: optionalText,
  connectors: z.array(z.string()).default([]),
  interactive_mode: z.boolean().default(false),
  create_shareable_link: z.boolean().default(false),
  hide_in_task_list: z.boolean().default(false),
  locale: optionalText,
  metadata: z.record(z.string(), z.string()).default({}),
  stream: z.boolean().default(false),
  background: z.boolean().optional(),
  text: textOptions.optional(),
  ...unusedMembers,
});
type Creation = z.infer<typeof creation>;

/**
 * Which members have an effect: a follow-up does not change project, language, interactive mode and
 * visibility in the list.
 */
const creationShape = startOrContinueShape(
  creation,
  creation.extend({
    project_id: unused,
    locale: unused,
    interactive_mode: unused,
    hide_in_task_list: unused,
  }),
  ["previous_response_id", "task_id"],
);

/**
 * Begins a task, or continues one.
 *
 * @returns the task's id.
 * @throws Failure `invalid_argument` with the path that the invalid member has in this API.
 */
async function createResponse(ask: Invoke, input: Creation, form: Form): Promise<string> {
  if (input.previous_response_id !== undefined && input.task_id !== undefined) {
    throw invalidArgument("previous_response_id", "cannot be given with task_id");
  }
  const continues = input.previous_response_id ?? input.task_id;
  const items = await resolveItems(ask, input.input, { form, continues });
  const { parts, instruction } = contentOf(input.instructions, items, form);
  const message = { content: parts.map(({ part }) => part), connectors: input.connectors };
  const turn = form === "openai" ? turnRequestOf(input, instruction) : {};
  try {
    return await (continues === undefined
      ? beginTask(ask, input, { message, ...turn })
      : continueTask(ask, input, continues, { message, ...turn }));
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    const continued = thrown.path === "task_id" && input.previous_response_id !== undefined;
    if (continued && form === "openai") throw notFound("response", "previous_response_id");
    if (thrown.path === undefined) throw thrown;
    throw renameField(thrown, (path) => (continued ? "previous_response_id" : pathIn(parts, path)));
  }
}

/** A message, and what is kept with it. */
type NewMessage = Pick<MessageInitShape<typeof SendMessageRequestSchema>, "message" | "turn">;

async function beginTask(ask: Invoke, input: Creation, message: NewMessage): Promise<string> {
  const {
    interactive_mode: interactiveMode,
    hide_in_task_list: hideInTaskList,
    project_id: projectId,
    locale,
    metadata,
  } = input;
  const { taskId } = await ask(TaskService.method.createTask, {
    ...message,
    interactiveMode,
    hideInTaskList,
    metadata,
    ...withoutUndefined({ projectId, locale }),
    ...profileOf(input),
    ...outputSchemaOf(input.text),
    ...(input.create_shareable_link ? { shareVisibility: ShareVisibility.PUBLIC } : {}),
  });
  return taskId;
}

/**
 * Continues a task. Project, language and visibility in the list do not change; the profile applies from this
 * turn on (spec/v1.md 9).
 */
async function continueTask(ask: Invoke, input: Creation, id: string, message: NewMessage): Promise<string> {
  const { metadata } = input;
  // Before the message, so that refused pairs start no turn.
  if (Object.keys(metadata).length > 0) await ask(TaskService.method.updateTask, { taskId: id, metadata });
  const { taskId } = await ask(TaskService.method.sendMessage, {
    taskId: id,
    ...message,
    ...profileOf(input),
    ...outputSchemaOf(input.text),
  });
  if (input.create_shareable_link)
    await ask(TaskService.method.updateTask, { taskId, shareVisibility: ShareVisibility.PUBLIC });
  return taskId;
}

/** Takes a model that has the name of a profile as the profile, also in the form of answers, `NAME-agent`. */
function nameProfile(input: Creation, profiles: readonly string[]): Creation {
  const name = profiles.find((profile) => input.model === profile || input.model === `${profile}-agent`);
  return name === undefined || input.agent_profile || input.mode ? input : { ...input, agent_profile: name };
}

/** SDKs require a model: the name of a profile selects it, any other name is ignored (spec/v1.md 7.2). */
function profileOf({ agent_profile, mode, model = "" }: Creation): ReturnType<typeof profileIn> {
  const profile = /^manus-[\d.]+(?:-(lite|max))?(?:-(?:agent|adaptive|chat))?$/.exec(model);
  return profileIn({
    agent_profile: agent_profile || (mode ?? (profile ? (profile[1] ?? "standard") : undefined)),
  });
}

const ownPaths: Readonly<Record<string, string>> = {
  structured_output_schema: "text.format.schema",
  "turn.instruction": "instructions",
  "turn.echo": "tools",
};

/** The path in this API of a field that an operation refused. */
function pathIn(placed: readonly MessagePart[], path: string): string {
  const own = ownPaths[path];
  if (own !== undefined) return own;
  const [, index, field = ""] = /^message\.content(?:\[(\d+)\](.*))?$/.exec(path) ?? [];
  const part = placed[Number(index)];
  if (part) return part.pathOf(field);
  return path.startsWith("message.content") ? "input" : path.replace(/^message\./, "");
}

/** Waits while the task runs: a create in the hosted form. */
async function hold(ask: Invoke, taskId: string, waitSeconds: number): Promise<void> {
  if (waitSeconds === 0) return;
  try {
    await ask(TaskService.method.getTask, { taskId, waitSeconds });
  } catch (thrown) {
    // The response exists: a client that repeats a refused call would create a second one.
    if (!(thrown instanceof Failure) || thrown.reason !== "resource_exhausted") throw thrown;
  }
}

const inputItemsPage = z.object({
  response_id: z.string(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().optional(),
  include: unused,
});

/**
 * Lists a page of the user's messages in the form of input items.
 *
 * @throws Failure `invalid_argument` when `after` names no item of the list.
 */
function listInputItems(
  messages: readonly TaskEvent[],
  { limit, order, after }: z.infer<typeof inputItemsPage>,
): object {
  const items = messages.flatMap((event) =>
    event.payload.case === "userMessage" ? (messageOf(event) ?? []) : [],
  );
  const ordered = order === "asc" ? items : items.toReversed();
  const index = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && index < 0) throw invalidArgument("after", "is not in this list");
  const data = ordered
    .slice(index + 1, index + 1 + limit)
    .map((item) => ({ ...item, content: item.content.map(inputPart) }));
  const ends = data.length === 0 ? {} : { first_id: data[0]?.id, last_id: data.at(-1)?.id };
  return { object: "list", data, ...ends, has_more: index + 1 + limit < ordered.length };
}

const inputPart = (part: Part): object =>
  part.type === "output_file"
    ? { type: "input_file", file_url: part.fileUrl, filename: part.fileName }
    : part;

const { createTask, deleteTask, getConversation, stopTask, watchTask } = TaskService.method;

const byResponse = z.object({ response_id: z.string() });
const responseField = (path: string): string => (path === "task_id" ? "response_id" : path);

/** Query members; a query has booleans as text. */
const retrieval = byResponse.extend({
  stream: z.enum(["true", "false"]).default("false"),
  starting_after: z
    .string()
    .regex(/^\d{1,9}$/, { error: "must be a whole number from 0" })
    .transform(Number)
    .optional(),
  include: unused,
  include_obfuscation: unused,
});

export type ResponseParts = StreamParts & FormRule & { readonly profiles: readonly string[] };

/** The routes of responses below a prefix (spec/v1.md 7): a response is a task with its conversation. */
export const responseRoutes = (prefix: "" | "/v1", parts: ResponseParts): readonly Route[] => [
  {
    ...compound(`POST ${prefix}/responses`, createTask, creation, async (input, ask, call) => {
      const form = chooseForm(call, parts);
      const seconds = chooseHold(call, input, form);
      if (input.stream) ask.reserve(watchTask);
      const taskId = await createResponse(ask, nameProfile(input, parts.profiles), form);
      if (input.stream) return sendStream(parts, ask, call, { taskId, form });
      if (form === "openai" && seconds > 0) return answerHeld(parts, ask, call, { taskId, seconds });
      await hold(ask, taskId, seconds);
      return responseOf(await readConversation(ask, taskId), form);
    }),
    accepts: creationShape,
  },
  compound(
    `GET ${prefix}/responses/{response_id}`,
    getConversation,
    retrieval,
    async (input, ask, call) => {
      const { response_id: responseId, stream, starting_after: startingAfter } = input;
      const form = chooseForm(call, parts);
      if (stream === "true") return sendStream(parts, ask, call, { taskId: responseId, startingAfter, form });
      return responseOf(await readConversation(ask, responseId), form);
    },
    responseField,
  ),
  compound(
    `POST ${prefix}/responses/{response_id}/cancel`,
    stopTask,
    byResponse,
    async ({ response_id: taskId }, ask, call) => {
      const form = chooseForm(call, parts);
      await ask(stopTask, { taskId });
      return responseOf(await readConversation(ask, taskId), form);
    },
    responseField,
  ),
  route(`DELETE ${prefix}/responses/{response_id}`, deleteTask, byResponse, {
    request: ({ response_id: taskId }) => ({ taskId, stop: true }),
    response: ({ id, deleted }) => ({ id, object: "response.deleted", deleted }),
    nameField: responseField,
  }),
  compound(
    `GET ${prefix}/responses/{response_id}/input_items`,
    getConversation,
    inputItemsPage,
    async (page, ask) => listInputItems((await readConversation(ask, page.response_id)).messages, page),
    responseField,
  ),
];
