import type { StructuredOutputResult, TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { type OutputContent, type OutputItem, outputItem } from "../v1/task-object.ts";
import type { Message, Output, Part } from "./items.ts";

/**
 * The message of an event; undefined for an event without one. The value of a structured output is a message
 * of the assistant.
 */
export function messageOf(event: TaskEvent): Message | undefined {
  if (event.payload.case === "structuredOutputResult") return resultMessage(event.id, event.payload.value);
  const item = outputItem(event);
  return item && { ...item, content: item.content.map((part) => partOf(item.role, part)) };
}

/** The user's own text is input, so that the SDK's `output_text` has only texts of the assistant. */
function partOf(role: OutputItem["role"], part: OutputContent): Part {
  if (part.type !== "output_text") return part;
  return role === "user" ? { type: "input_text", text: part.text } : { ...part, annotations: [] };
}

const resultMessage = (id: string, { success, value, error }: StructuredOutputResult): Message => ({
  id,
  status: "completed",
  role: "assistant",
  type: "message",
  content: [
    success
      ? { type: "output_text", text: JSON.stringify(value ?? {}), annotations: [] }
      : { type: "refusal", refusal: error ?? "" },
  ],
});

/** The output in the hosted form: the complete conversation. */
export function hostedOutput(): Output {
  const items: Message[] = [];
  return {
    form: "platform",
    items: () => [...items],
    add(event) {
      const message = messageOf(event);
      if (message) items.push(message);
      return message;
    },
    // Only the value is an `output_text`, so that SDKs can parse the texts of all such parts.
    withResult: () => [...items.slice(0, -1).map(withOtherText), ...items.slice(-1)],
  };
}

const withOtherText = (message: Message): Message => ({
  ...message,
  content: message.content.map((part) =>
    part.type === "output_text" ? { type: "text", text: part.text } : part,
  ),
});

/** Members of the hosted form that the SDK's types require and a task does not have. */
export const hostedMembers = {
  instructions: null,
  parallel_tool_calls: false,
  temperature: null,
  tool_choice: "auto",
  tools: [],
  top_p: null,
} as const;
