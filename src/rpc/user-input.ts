import type { JsonObject } from "../core/json.ts";
import { Failure, invalid } from "../core/failure.ts";
import type { UserInput } from "../core/tasks/message.ts";
import { type ContentPart, ContentPartType, type Message } from "../gen/proto/task/v2/message_pb.ts";

/**
 * A request's message in terms of the core (contract/v2.md 7.2, 7.3).
 *
 * @throws Failure `invalid` for a part without its text, an unknown connector or
 * skill; `unimplemented` for file and voice parts.
 */
export function userInput(message: Message | undefined): UserInput {
  const { content = [], connectors = [], enableSkills = [], forceSkills = [], taskReferences = [] } = message ?? {};
  refuseUnknown("message.connectors", connectors, "is not installed");
  refuseUnknown("message.enable_skills", enableSkills, "is unknown");
  refuseUnknown("message.force_skills", forceSkills, "is unknown");
  return { text: content.map(textOf).join("\n"), references: taskReferences };
}

/** Structured output is not built yet: a schema is refused rather than passed over. */
export function refuseSchema(schema: JsonObject | undefined): void {
  if (schema !== undefined) throw new Failure("unimplemented", "structured_output_schema is not built yet");
}

function textOf({ type, text }: ContentPart, index: number): string {
  if (type !== ContentPartType.TEXT) throw new Failure("unimplemented", `message.content[${index}]: file and voice parts are not built yet`);
  if (text === undefined) throw invalid(`message.content[${index}].text`, "is required in a text part");
  return text;
}

/** Until the catalogue exists no connector is installed and no skill is known (contract/v2.md 14.2). */
function refuseUnknown(path: string, ids: readonly string[], why: string): void {
  const [id] = ids;
  if (id !== undefined) throw invalid(`${path}[0]`, `${id} ${why}`);
}
