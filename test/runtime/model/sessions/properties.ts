import type { JsonObject } from "../../../../src/core/json.ts";
import type { ModelRequest, SeenMessage } from "../../../support/model/script.ts";
import type { Stored } from "../model-run.ts";

// What holds for all sessions, in all wire forms.

interface Block extends JsonObject {
  readonly type: string;
}

interface Message extends JsonObject {
  readonly role: string;
}

const blocksOf = ({ content }: Message): readonly Block[] =>
  Array.isArray(content) ? (content as Block[]) : [];
const messagesOf = ({ messages, input }: JsonObject): readonly Message[] =>
  (messages ?? input) as unknown as Message[];

/** The ids of the calls in a request, in order. */
export const callsIn = (body: JsonObject): readonly string[] =>
  messagesOf(body).flatMap((message) => [
    ...((message["tool_calls"] ?? []) as { id: string }[]).map(({ id }) => id),
    ...blocksOf(message).flatMap(({ type, id }) => (type === "tool_use" ? [String(id)] : [])),
    ...(message["type"] === "function_call" ? [String(message["call_id"])] : []),
  ]);

/** The ids of the calls that have results in a request, in order. */
export const resultsIn = (body: JsonObject): readonly string[] =>
  messagesOf(body).flatMap((message) => [
    ...(message.role === "tool" ? [String(message["tool_call_id"])] : []),
    ...(message["type"] === "function_call_output" ? [String(message["call_id"])] : []),
    ...blocksOf(message).flatMap(({ type, tool_use_id: id }) => (type === "tool_result" ? [String(id)] : [])),
  ]);

/** The calls without exactly one result, by their ids. */
export function openEnds(rows: Stored["rows"]): readonly string[] {
  const parts = rows.flatMap((row) => row.parts);
  const ended = parts.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));
  const called = parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
  return called.filter((id) => ended.filter((other) => other === id).length !== 1);
}

/** The texts of one role in requests, without empty ones. */
export const textsIn = (requests: readonly ModelRequest[], role: SeenMessage["role"]): ReadonlySet<string> =>
  new Set(
    requests.flatMap(({ messages }) =>
      messages.flatMap((message) => (message.role === role && message.text !== "" ? [message.text] : [])),
    ),
  );

/** The messages of a request as text, without the marks for the cache, which move. */
export const unmarked = (request: ModelRequest | undefined): string =>
  JSON.stringify(messagesOf(request?.body ?? { messages: [] }), (key, value) =>
    key === "cache_control" ? undefined : value,
  );
