import type { TaskAttachment } from "../../gen/proto/task/v2/task_attachment_pb.ts";
import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";

/** Something in a message: a text, or a file behind a link (contract/v1.md 4.3). */
export type OutputContent =
  | { readonly type: "output_text"; readonly text: string }
  | { readonly type: "output_file"; readonly fileUrl: string; readonly fileName: string; readonly mimeType?: string };

/** A message of a conversation, of either side. */
export interface OutputItem {
  readonly id: string;
  readonly status: "completed";
  readonly role: "user" | "assistant";
  readonly type: "message";
  readonly content: readonly OutputContent[];
}

/** What was said, as v1 and the Responses API show it; other events are passed over. */
export const outputOf = (messages: readonly TaskEvent[]): readonly OutputItem[] => messages.flatMap((event) => outputItem(event) ?? []);

/** One message; undefined for an event that says nothing. A failure is said by the assistant. */
export function outputItem({ id, payload }: TaskEvent): OutputItem | undefined {
  switch (payload.case) {
    case "userMessage":
      return item(id, "user", payload.value.content, payload.value.attachments);
    case "assistantMessage":
      return item(id, "assistant", payload.value.content, payload.value.attachments);
    case "errorMessage":
      return item(id, "assistant", payload.value.content, []);
    default:
      return undefined;
  }
}

const item = (id: string, role: OutputItem["role"], text: string, files: readonly TaskAttachment[]): OutputItem => ({
  id,
  status: "completed",
  role,
  type: "message",
  content: [...(text === "" ? [] : [{ type: "output_text" as const, text }]), ...files.map(outputFile)],
});

const outputFile = ({ url, filename, contentType }: TaskAttachment): OutputContent => ({
  type: "output_file",
  fileUrl: url,
  fileName: filename,
  ...(contentType === undefined ? {} : { mimeType: contentType }),
});
