import type { Json, JsonObject } from "../../../src/core/json.ts";
import {
  type Counted,
  halves,
  inputText,
  piecesOf,
  refusalText,
  type SeenMessage,
  type WireForm,
} from "./script.ts";

const frame = (value: JsonObject): string =>
  `event: ${String(value["type"])}\ndata: ${JSON.stringify(value)}\n\n`;

const block = (index: number, start: JsonObject, deltas: readonly JsonObject[]): readonly string[] => [
  frame({ type: "content_block_start", index, content_block: start }),
  ...deltas.map((delta) => frame({ type: "content_block_delta", index, delta })),
  frame({ type: "content_block_stop", index }),
];

const finishOf = ({ finish, calls = [] }: Counted): string =>
  finish === "length"
    ? "max_tokens"
    : finish === "filtered"
      ? "refusal"
      : calls.length > 0
        ? "tool_use"
        : "end_turn";

/** Messages in the form of Anthropic's API. */
export const anthropicForm: WireForm = {
  api: "anthropic",
  path: "/v1/messages",
  begin(answering) {
    const { reasoning = "", signature, calls = [], usage } = answering;
    const texts = piecesOf(answering);
    const blocks: ((index: number) => readonly string[])[] = [];
    if (reasoning !== "") {
      const deltas: JsonObject[] = halves(reasoning).map((thinking) => ({
        type: "thinking_delta",
        thinking,
      }));
      if (signature !== undefined) deltas.push({ type: "signature_delta", signature });
      blocks.push((index) => block(index, { type: "thinking", thinking: "", signature: "" }, deltas));
    }
    if (texts.length > 0) {
      blocks.push((index) =>
        block(
          index,
          { type: "text", text: "" },
          texts.map((text) => ({ type: "text_delta", text })),
        ),
      );
    }
    for (const [nth, { name, input, id = `toolu_${nth}` }] of calls.entries()) {
      const deltas = halves(inputText(input)).map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      }));
      blocks.push((index) => block(index, { type: "tool_use", id, name, input: {} }, deltas));
    }
    const message = {
      ...{
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [],
        model: "scripted",
        stop_reason: null,
        stop_sequence: null,
      },
      usage: {
        input_tokens: (usage?.input ?? 100) - (usage?.cached ?? 0) - (usage?.written ?? 0),
        cache_read_input_tokens: usage?.cached ?? 0,
        cache_creation_input_tokens: usage?.written ?? 0,
        output_tokens: 1,
      },
    };
    return [frame({ type: "message_start", message }), ...blocks.flatMap((make, index) => make(index))];
  },
  end: (answering) => [
    frame({
      type: "message_delta",
      delta: { stop_reason: finishOf(answering), stop_sequence: null },
      usage: { output_tokens: answering.usage?.output ?? 10 },
    }),
    frame({ type: "message_stop" }),
  ],
  error: (status) => ({
    type: "error",
    error: { type: status === 429 ? "rate_limit_error" : "api_error", message: refusalText },
  }),
  read(body) {
    const system = textOf(body["system"] ?? "");
    const messages = body["messages"] as { role: "user" | "assistant"; content: Json }[];
    const tools = (body["tools"] ?? []) as { name: string }[];
    return {
      messages: [{ role: "system", text: system, calls: [] }, ...messages.flatMap(readMessage)],
      tools: tools.map(({ name }) => name),
    };
  },
};

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly input?: Json;
  readonly content?: Json;
}

const textOf = (content: Json): string =>
  typeof content === "string"
    ? content
    : (content as unknown as Block[]).map(({ text = "" }) => text).join("\n\n");

/** Results of tools are separate messages, as in other forms. */
function readMessage({
  role,
  content,
}: {
  readonly role: "user" | "assistant";
  readonly content: Json;
}): readonly SeenMessage[] {
  const blocks: readonly Block[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content as unknown as Block[]);
  const results = blocks.flatMap((part): SeenMessage[] =>
    part.type === "tool_result" ? [{ role: "tool", text: textOf(part.content ?? ""), calls: [] }] : [],
  );
  const text = blocks.flatMap((part) => part.text ?? []).join("\n\n");
  const calls = blocks.flatMap(({ type, name = "", input = null }) =>
    type === "tool_use" ? [{ name, input }] : [],
  );
  return [...results, ...(text !== "" || calls.length > 0 ? [{ role, text, calls }] : [])];
}
