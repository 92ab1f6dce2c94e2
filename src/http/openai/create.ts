import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { Failure, invalid, renamed } from "../../core/failure.ts";
import type { MessageSchema } from "../../gen/proto/task/v2/message_pb.ts";
import { ShareVisibility } from "../../gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../gen/proto/task/v2/task_service_pb.ts";
import { filled, present } from "../v1/fields.ts";
import { beginningOrGoingOn, unused } from "../v1/input-shape.ts";
import { profileFields, profileIn } from "../v1/profile.ts";
import type { Ask } from "../v1/route.ts";
import { inputItems, type Placed, placedParts } from "./input.ts";

/** Members of the Responses API that have no effect: every response runs in the background, is kept, and works with the agent's own tools. */
const ofResponsesApi = Object.fromEntries(
  [
    ...["access_programs", "background", "context_management", "conversation", "image", "include", "max_output_tokens"],
    ...["max_tool_calls", "metadata", "moderation", "parallel_tool_calls", "prompt", "prompt_cache_key", "prompt_cache_options"],
    ...["prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store", "stream_options", "temperature"],
    ...["text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"],
  ].map((name) => [name, unused]),
);

/** The body of POST /responses; callers are warned of what is not named here (contract/v1.md 7.2, contract/decisions.md 51). */
export const creation = z.object({
  input: inputItems,
  instructions: z.string().optional(),
  previous_response_id: filled,
  task_id: filled,
  ...profileFields,
  model: z.string().optional(),
  project_id: filled,
  connectors: z.array(z.string()).default([]),
  interactive_mode: z.boolean().default(false),
  create_shareable_link: z.boolean().default(false),
  hide_in_task_list: z.boolean().default(false),
  locale: filled,
  stream: z.boolean().default(false),
  ...ofResponsesApi,
});
type Creation = z.infer<typeof creation>;

/** What of it has an effect depends on whether it begins a task: project, language and place in the list stay as they are. */
export const creationShape = beginningOrGoingOn(
  creation,
  creation.extend({ project_id: unused, locale: unused, interactive_mode: unused, hide_in_task_list: unused }),
  ["previous_response_id", "task_id"],
);

/**
 * Begins a task, or goes on with one.
 *
 * @returns the task's id.
 * @throws Failure `invalid` with the path that the member at fault has in this API.
 */
export async function createResponse(ask: Ask, input: Creation): Promise<string> {
  if (input.previous_response_id !== undefined && input.task_id !== undefined) {
    throw invalid("previous_response_id", "cannot be given with task_id");
  }
  const placed = placedParts(input.instructions, input.input);
  const message = { content: placed.map(({ part }) => part), connectors: input.connectors };
  try {
    const taskId = input.previous_response_id ?? input.task_id;
    return await (taskId === undefined ? begin(ask, input, message) : goOn(ask, input, taskId, message));
  } catch (thrown) {
    throw thrown instanceof Failure && thrown.path !== undefined ? renamed(thrown, (path) => pathIn(placed, path)) : thrown;
  }
}

type NewMessage = MessageInitShape<typeof MessageSchema>;

async function begin(ask: Ask, input: Creation, message: NewMessage): Promise<string> {
  const { interactive_mode: interactiveMode, hide_in_task_list: hideInTaskList, project_id: projectId, locale } = input;
  const { taskId } = await ask(TaskService.method.createTask, {
    ...{ message, interactiveMode, hideInTaskList },
    ...present({ projectId, locale }),
    ...profileOf(input),
    ...(input.create_shareable_link ? { shareVisibility: ShareVisibility.PUBLIC } : {}),
  });
  return taskId;
}

/** Project, language and place in the list stay as they are; the profile counts from this turn on (contract/v1.md 9). */
async function goOn(ask: Ask, input: Creation, id: string, message: NewMessage): Promise<string> {
  const { taskId } = await ask(TaskService.method.sendMessage, { taskId: id, message, ...profileOf(input) });
  if (input.create_shareable_link) await ask(TaskService.method.updateTask, { taskId, shareVisibility: ShareVisibility.PUBLIC });
  return taskId;
}

/** SDKs insist on a model: one that is called like a profile is meant as one, any other is passed over (contract/v1.md 7.2). */
function profileOf({ agent_profile, mode, model = "" }: Creation): ReturnType<typeof profileIn> {
  const named = /^manus-[\d.]+(?:-(lite|max))?(?:-(?:agent|adaptive|chat))?$/.exec(model);
  return profileIn({ agent_profile: agent_profile || (mode ?? (named ? (named[1] ?? "standard") : undefined)) });
}

/** The operations name their own fields; the caller knows those of this API. */
function pathIn(placed: readonly Placed[], path: string): string {
  const [, index, field = ""] = /^message\.content(?:\[(\d+)\](.*))?$/.exec(path) ?? [];
  const place = placed[Number(index)];
  if (place) return place.at(field);
  return path.startsWith("message.content") ? "input" : path.replace(/^message\./, "");
}
