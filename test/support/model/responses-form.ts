import { isObject, type Json, type JsonObject, parseJson } from "../../../src/core/json.ts";
import {
  type Counted,
  halves,
  inputText,
  piecesOf,
  refusalText,
  type SeenMessage,
  type WireForm,
} from "./script.ts";

const frame = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;

/** An output item: its frames, once its place is known. */
type Item = (output_index: number) => readonly string[];

const itemFrames = (
  output_index: number,
  item: JsonObject,
  deltas: readonly JsonObject[],
  done: JsonObject = {},
): readonly string[] => [
  frame({ type: "response.output_item.added", output_index, item }),
  ...deltas.map((delta) => frame({ output_index, item_id: item["id"] ?? "", ...delta })),
  frame({ type: "response.output_item.done", output_index, item: { ...item, ...done } }),
];

/** Thoughts, whose signature is their encrypted content. */
const thought =
  (text: string, signature: string | undefined): Item =>
  (index) =>
    itemFrames(
      index,
      { type: "reasoning", id: `rs_${index}`, encrypted_content: null, summary: [] },
      [
        { type: "response.reasoning_summary_part.added", summary_index: 0 },
        ...halves(text).map((delta) => ({
          type: "response.reasoning_summary_text.delta",
          summary_index: 0,
          delta,
        })),
        { type: "response.reasoning_summary_part.done", summary_index: 0 },
      ],
      { encrypted_content: signature ?? null },
    );

const message =
  (texts: readonly string[]): Item =>
  (index) =>
    itemFrames(
      index,
      { type: "message", id: `msg_${index}` },
      texts.map((delta) => ({ type: "response.output_text.delta", delta })),
    );

const call =
  ({ name, input, id }: NonNullable<Counted["calls"]>[number], nth: number): Item =>
  (index) =>
    itemFrames(
      index,
      { type: "function_call", id: `fc_${index}`, call_id: id ?? `call_${nth}`, name, arguments: "" },
      halves(inputText(input)).map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
      { arguments: inputText(input), status: "completed" },
    );

/** The Responses API of OpenAI. */
export const responsesForm: WireForm = {
  api: "openai-responses",
  path: "/v1/responses",
  begin(answering) {
    const { reasoning = "", signature, calls = [] } = answering;
    const texts = piecesOf(answering);
    const items: readonly Item[] = [
      ...(reasoning === "" ? [] : [thought(reasoning, signature)]),
      ...(texts.length === 0 ? [] : [message(texts)]),
      ...calls.map(call),
    ];
    const response = { id: "resp_1", created_at: 1, model: "scripted" };
    return [frame({ type: "response.created", response }), ...items.flatMap((item, index) => item(index))];
  },
  end({ usage = { input: 100, output: 10 }, finish }) {
    const reasons = { length: "max_output_tokens", filtered: "content_filter" } as const;
    const counted = usage && {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const response = {
      incomplete_details: finish ? { reason: reasons[finish] } : null,
      ...(counted && { usage: counted }),
    };
    return [frame({ type: finish ? "response.incomplete" : "response.completed", response })];
  },
  error: (status) => ({ error: { message: refusalText, type: "error", param: null, code: String(status) } }),
  read(body) {
    const input = body["input"] as unknown as readonly InputItem[];
    const tools = (body["tools"] ?? []) as unknown as readonly { readonly name: string }[];
    return { messages: joined(input.flatMap(readItem)), tools: tools.map(({ name }) => name) };
  },
};

interface InputItem {
  readonly type?: string;
  readonly role?: "system" | "developer" | "user" | "assistant";
  readonly content?: string | readonly { readonly text: string }[];
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: Json;
}

function readItem({ type, role, content = "", name = "", output, ...item }: InputItem): SeenMessage[] {
  if (type === "reasoning") return [];
  if (type === "function_call")
    return [{ role: "assistant", text: "", calls: [{ name, input: JSON.parse(item.arguments ?? "") }] }];
  if (type === "function_call_output") return [{ role: "tool", text: resultText(String(output)), calls: [] }];
  const text = typeof content === "string" ? content : content.map((part) => part.text).join("\n\n");
  return [{ role: role === "developer" ? "system" : (role ?? "user"), text, calls: [] }];
}

/** The SDK gives a failed result as an object with the error. */
const resultText = (output: string): string => {
  const parsed = parseJson(output);
  const error = isObject(parsed) ? parsed["error"] : undefined;
  return typeof error === "string" ? error : output;
};

/** Items of one answer are one message, as in other forms. */
function joined(messages: readonly SeenMessage[]): readonly SeenMessage[] {
  const all: SeenMessage[] = [];
  for (const next of messages) {
    const last = all.at(-1);
    if (next.role !== "assistant" || last?.role !== "assistant") all.push(next);
    else {
      const text = [last.text, next.text].filter((one) => one !== "").join("\n\n");
      all.splice(-1, 1, { role: "assistant", text, calls: [...last.calls, ...next.calls] });
    }
  }
  return all;
}
