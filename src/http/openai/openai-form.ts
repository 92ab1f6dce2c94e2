import type { TaskAttachment } from "../../gen/proto/task/v2/task_attachment_pb.ts";
import type { StructuredOutputResult, TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import type { TurnRequest } from "../../gen/proto/task/v2/task_service_pb.ts";
import type { Citation, Message, Output, Part, ResponseState } from "./items.ts";

/**
 * The output in OpenAI's form: the assistant's items after the last message of the user. Files are citations
 * of the text of their message. With a structured output the items before it are commentary, which has no
 * text that SDKs read.
 */
export function openaiOutput(taskId: string): Output {
  let userSeq = 0;
  let items: readonly Message[] = [];
  const nextId = (): string => `msg_${taskId}_${userSeq}_${items.length}`;
  return {
    form: "openai",
    items: () => items,
    nextId,
    add(event) {
      const { payload, seq } = event;
      if (payload.case === "userMessage") {
        userSeq = seq;
        items = [];
      }
      const item =
        payload.case === "structuredOutputResult"
          ? resultItem(nextId(), payload.value, items)
          : itemOf(event, nextId());
      if (!item) return undefined;
      items = [...(payload.case === "structuredOutputResult" ? items.map(commentaryOf) : items), item];
      return item;
    },
    withResult: () => items,
  };
}

const itemWith = (id: string, content: readonly Part[]): Message => ({
  id,
  status: "completed",
  role: "assistant",
  type: "message",
  content,
});

const itemOf = ({ payload }: TaskEvent, id: string): Message | undefined =>
  payload.case === "assistantMessage"
    ? itemWith(id, [textWith(payload.value.content, payload.value.attachments)])
    : undefined;

const textWith = (text: string, files: readonly TaskAttachment[]): Part => ({
  type: "output_text",
  text,
  annotations: files.map(({ url, filename }) => citation(text, url, filename)),
});

/** A file behind a link, at the end of the text. */
const citation = ({ length }: string, url: string, title: string): Citation => ({
  type: "url_citation",
  url,
  title,
  start_index: length,
  end_index: length,
});

/** The value, with the files of the messages before it; or the reason why there is none. */
function resultItem(
  id: string,
  { success, value, error }: StructuredOutputResult,
  before: readonly Message[],
): Message {
  const text = JSON.stringify(value ?? {});
  // The last message has the files of the turn again.
  const all = before.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "output_text" ? part.annotations : [])),
  );
  const urls = new Map(all.map(({ url, title }) => [url, title]));
  const content: Part = success
    ? { type: "output_text", text, annotations: [...urls].map(([url, title]) => citation(text, url, title)) }
    : { type: "refusal", refusal: error ?? "" };
  return { ...itemWith(id, [content]), phase: "final_answer" };
}

/**
 * A message before a structured output. SDKs parse the texts of all parts, so its text is in a summary, as
 * that of reasoning is.
 */
export const commentaryOf = (item: Message): Message => ({
  ...item,
  phase: "commentary",
  content: [],
  summary: item.content.flatMap((part) =>
    part.type === "output_text" ? [{ type: "summary_text" as const, text: part.text }] : [],
  ),
});

/** Whether the turn ends with a structured output. */
export const hasSchema = (turn: TurnRequest | undefined): boolean =>
  Object(Object(turn?.echo?.["text"])["format"])["type"] === "json_schema";

/** What has no effect is reported as the default of OpenAI. */
const defaults = {
  truncation: "disabled",
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  store: true,
  service_tier: "default",
  safety_identifier: null,
  prompt_cache_key: null,
} as const;

/** The members that only OpenAI's form has. Those that the create has sent are repeated. */
export function openaiMembers(turn: TurnRequest | undefined, { completedAt }: ResponseState) {
  const echo = turn?.echo ?? {};
  return {
    completed_at: completedAt ?? null,
    previous_response_id: echo["previous_response_id"] ?? null,
    instructions: echo["instructions"] ?? null,
    text: { format: { type: "text" }, ...Object(echo["text"]) },
    tools: echo["tools"] ?? [],
    tool_choice: echo["tool_choice"] ?? "auto",
    background: echo["background"] ?? false,
    ...defaults,
  };
}

/** The platform's status, and warnings about the members of the request. */
export const openaiMetadata = (turn: TurnRequest | undefined, { status }: ResponseState) => ({
  status,
  ...(Array.isArray(turn?.echo?.["tools"])
    ? { warnings: "tools: have no effect, because the agent uses its own tools" }
    : {}),
});
