import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { Failure, invalid } from "../../core/failure.ts";
import type { MessageSchema } from "../../gen/proto/task/v2/message_pb.ts";
import { ShareVisibility } from "../../gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../gen/proto/task/v2/task_service_pb.ts";
import type { Ask } from "../v1/route.ts";
import { inputItems, type Placed, placedParts } from "./input.ts";

/** The body of POST /responses; what is not named here is passed over (contract/v1.md 7.2). */
export const creation = z.object({
  input: inputItems,
  instructions: z.string().optional(),
  previous_response_id: z.string().optional(),
  task_id: z.string().optional(),
  agent_profile: z.string().optional(),
  model: z.string().optional(),
  project_id: z.string().optional(),
  connectors: z.array(z.string()).default([]),
  interactive_mode: z.boolean().default(false),
  create_shareable_link: z.boolean().default(false),
  hide_in_task_list: z.boolean().default(false),
  locale: z.string().optional(),
  stream: z.boolean().default(false),
});
type Creation = z.infer<typeof creation>;

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
    const { taskId } = await asked(ask, input, message);
    return taskId;
  } catch (thrown) {
    throw thrown instanceof Failure ? relocated(thrown, placed) : thrown;
  }
}

function asked(ask: Ask, input: Creation, message: MessageInitShape<typeof MessageSchema>): Promise<{ readonly taskId: string }> {
  const taskId = input.previous_response_id ?? input.task_id;
  const agentProfile = profileOf(input);
  const profile = agentProfile === undefined ? {} : { agentProfile };
  // Project, link and list are the task's already (contract/v1.md 9).
  if (taskId !== undefined) return ask(TaskService.method.sendMessage, { taskId, message, ...profile });
  return ask(TaskService.method.createTask, {
    message,
    ...profile,
    ...(input.project_id === undefined ? {} : { projectId: input.project_id }),
    ...(input.locale === undefined ? {} : { locale: input.locale }),
    ...(input.create_shareable_link ? { shareVisibility: ShareVisibility.PUBLIC } : {}),
    interactiveMode: input.interactive_mode,
    hideInTaskList: input.hide_in_task_list,
  });
}

/** SDKs insist on a model: one that is called like a profile is meant as one, any other is passed over (contract/v1.md 7.2). */
function profileOf({ agent_profile, model = "" }: Creation): string | undefined {
  if (agent_profile) return agent_profile;
  const named = /^manus-[\d.]+(?:-(lite|max))?(?:-(?:agent|adaptive|chat))?$/.exec(model);
  return named ? (named[1] ?? "standard") : undefined;
}

/** The operation names its own fields; the caller knows those of this API. */
function relocated(failure: Failure, placed: readonly Placed[]): Failure {
  const [, index, field = "", rest] = /^message\.content(?:\[(\d+)\](\.\w+)?)?(:.*)$/s.exec(failure.message) ?? [];
  const path = index === undefined ? "input" : placed[Number(index)]?.at(field);
  const message = rest === undefined ? failure.message.replace(/^message\./, "") : `${path}${rest}`;
  const { cause, retryAfter } = failure;
  return new Failure(failure.reason, message, { cause, ...(retryAfter === undefined ? {} : { retryAfter }) });
}
