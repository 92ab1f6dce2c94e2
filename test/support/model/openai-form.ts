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

const frame = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`;

const chunk = (delta: JsonObject, finish: string | null = null): string =>
  frame({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

const finishOf = ({ finish, calls = [] }: Counted): string =>
  finish === "length"
    ? "length"
    : finish === "filtered"
      ? "content_filter"
      : calls.length > 0
        ? "tool_calls"
        : "stop";

/** Chat completions in the form of OpenAI's API and compatible ones. */
export const openaiForm: WireForm = {
  api: "openai",
  path: "/v1/chat/completions",
  begin: (answering) => [
    chunk({ role: "assistant", content: "" }),
    ...halves(answering.reasoning ?? "").flatMap((text) =>
      text === "" ? [] : [chunk({ reasoning_content: text })],
    ),
    ...piecesOf(answering).map((content) => chunk({ content })),
    ...(answering.calls ?? []).flatMap(({ name, input, id }, index) => {
      const [first = "", second = ""] = halves(inputText(input));
      return [
        chunk({
          tool_calls: [
            { index, id: id ?? `call_${index}`, type: "function", function: { name, arguments: first } },
          ],
        }),
        chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
      ];
    }),
  ],
  end: (answering) => {
    const { usage = { input: 100, output: 10 } } = answering;
    const counted = usage && {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
    };
    const usageFrames = counted
      ? [
          frame({
            id: "chatcmpl-1",
            object: "chat.completion.chunk",
            created: 1,
            model: "scripted",
            choices: [],
            usage: counted,
          }),
        ]
      : [];
    return [chunk({}, finishOf(answering)), ...usageFrames, "data: [DONE]\n\n"];
  },
  error: (status) => ({ error: { message: refusalText, type: "error", code: String(status) } }),
  read(body) {
    const messages = body["messages"] as JsonObject[];
    const tools = (body["tools"] ?? []) as { function: { name: string } }[];
    return { messages: messages.map(readMessage), tools: tools.map((tool) => tool.function.name) };
  },
};

function readMessage(message: JsonObject): SeenMessage {
  const {
    role,
    content,
    tool_calls: calls = [],
  } = message as {
    role: SeenMessage["role"];
    content: string | null;
    tool_calls?: { function: { name: string; arguments: string } }[];
  };
  return {
    role,
    text: content ?? "",
    calls: calls.map(({ function: { name, arguments: input } }) => ({ name, input: JSON.parse(input) })),
  };
}
