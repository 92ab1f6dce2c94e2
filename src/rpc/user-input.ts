import type { Caller } from "../core/caller.ts";
import { checkGranted } from "../core/connectors/granted.ts";
import { Failure, invalid } from "../core/failure.ts";
import type { UserInput } from "../core/tasks/message.ts";
import { type ContentPart, ContentPartType, type Message } from "../gen/proto/task/v2/message_pb.ts";

/**
 * A request's message in terms of the core (contract/v2.md 7.2, 7.3).
 *
 * @throws Failure `invalid` for a part without its text, an unknown connector or
 * skill; `insufficient_scope` for a connector that an app was not granted; `unimplemented` for file and voice parts.
 */
export function userInput(caller: Caller, message: Message | undefined): UserInput {
  const { content = [], connectors = [], enableSkills = [], forceSkills = [], taskReferences = [] } = message ?? {};
  checkGranted(caller, connectors);
  refuseUnknown("message.connectors", connectors, "is not installed");
  refuseUnknown("message.enable_skills", enableSkills, "is unknown");
  refuseUnknown("message.force_skills", forceSkills, "is unknown");
  content.forEach(checkPart);
  return { texts: content.map(textOf), references: taskReferences };
}

/** The one source that a file or voice part has (contract/v2.md 7.3), and the text that a text part has. */
function checkPart({ type, text, fileId, fileUrl, fileData, filename }: ContentPart, index: number): void {
  const path = `message.content[${index}]`;
  if (type === ContentPartType.TEXT) {
    if (text === undefined) throw invalid(`${path}.text`, "is required in a text part");
    return;
  }
  const sources = [fileId, fileUrl, fileData].filter(Boolean);
  if (sources.length !== 1) throw invalid(path, "must have exactly one of file_id, file_url and file_data");
  if (fileData && !filename) throw invalid(`${path}.filename`, "is required with file_data");
}

function textOf({ type, text = "" }: ContentPart, index: number): string {
  if (type !== ContentPartType.TEXT)
    throw new Failure("unimplemented", `message.content[${index}]: file and voice parts are not built yet`);
  return text;
}

/** No connector can be installed yet, and no skill is known (contract/v2.md 14.2). */
function refuseUnknown(path: string, ids: readonly string[], why: string): void {
  const [id] = ids;
  if (id !== undefined) throw invalid(`${path}[0]`, `${id} ${why}`);
}
