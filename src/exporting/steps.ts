import type { StepName } from "../core/exports/export.ts";
import type { Attachment } from "../core/files/attachment.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { EventPayloads, TaskEvent } from "../core/tasks/event.ts";

/** How a step came out (contract/enterprise.md 13, row 35); `UNKNOWN` of a use that waits to be approved. */
export type StepOutcome = "SUCCESS" | "FAILURE" | "UNKNOWN";

/** A step of an agent's session (contract/enterprise.md 8.1). */
export interface Step {
  readonly name: StepName;
  readonly outcome: StepOutcome;
  readonly severity: "INFO" | "WARN" | "ERROR";
  /** What is told of it without content: members of `metadata`. */
  readonly attributes: JsonObject;
  /** What was said or done: members of `payload`, which has none where nothing was kept. */
  readonly content: JsonObject;
}

/**
 * The steps that an event tells of:
 *
 * | Event | Steps |
 * | --- | --- |
 * | `user_message` | USER_CHAT |
 * | `assistant_message` | AGENT_REPLY |
 * | `error_message` | AGENT_REPLY, a failure |
 * | `tool_used`, `pending_confirmation` | TOOL_CALL, once for a use however often it asks |
 * | `tool_used`, any other status | TOOL_CALL, unless the use has asked before, and TOOL_RESULT |
 *
 * @param asked ids of the task's uses that have asked; what the event adds is added.
 */
export function stepsOf(event: TaskEvent, asked: Set<string>): readonly Step[] {
  switch (event.type) {
    case "user_message":
      return [chat(event.payload)];
    case "assistant_message":
      return [reply(event.payload)];
    case "error_message":
      return [failed(event.payload)];
    case "tool_used":
      return use(event.payload, asked);
    default:
      return [];
  }
}

const well = { outcome: "SUCCESS", severity: "INFO" } as const;

const chat = ({ content, attachments = [] }: EventPayloads["user_message"]): Step => ({
  ...{ name: "user_chat", ...well, attributes: {} },
  content: { gen_ai_input_messages_json: [{ role: "user", parts: parts(content, attachments) }] },
});

const reply = ({ content, attachments = [] }: EventPayloads["assistant_message"]): Step => ({
  ...{ name: "agent_reply", ...well, attributes: {} },
  content: said(parts(content, attachments), "stop"),
});

const failed = ({ errorType, content }: EventPayloads["error_message"]): Step => ({
  ...{ name: "agent_reply", outcome: "FAILURE", severity: "ERROR", attributes: { errorType } },
  content: said(parts(content, []), "error"),
});

/** In the form of OpenTelemetry's `gen_ai.output.messages`. */
const said = (parts: Json, reason: "stop" | "error"): JsonObject => ({
  gen_ai_output_messages_json: [{ role: "assistant", parts, finish_reason: reason }],
});

const parts = (content: string, attachments: readonly Attachment[]): JsonObject[] => [
  ...(content === "" ? [] : [{ type: "text", content }]),
  ...attachments.map(({ fileId, filename, contentType }) => ({
    ...{ type: "file", modality: modalityOf(contentType), mime_type: contentType },
    ...{ file_id: fileId, filename },
  })),
];

const modalityOf = (contentType: string): string => /^(image|audio|video)\//.exec(contentType)?.[1] ?? "document";

type Use = EventPayloads["tool_used"];

function use(payload: Use, asked: Set<string>): readonly Step[] {
  const { actionId, status } = payload;
  const called = asked.has(actionId) ? [] : [call(payload)];
  if (status !== "pending_confirmation") return [...called, result(payload)];
  asked.add(actionId);
  return called;
}

/** A use that was made was called well, whatever came of it. */
const call = (payload: Use): Step => ({
  name: "tool_call",
  ...(payload.status === "pending_confirmation" ? ({ outcome: "UNKNOWN", severity: "INFO" } as const) : well),
  attributes: toolOf(payload),
  content: argumentsOf(payload),
});

const results = {
  success: { ...well, attributes: {} },
  error: { outcome: "FAILURE", severity: "ERROR", attributes: { errorType: "tool_error" } },
  rollback: { outcome: "FAILURE", severity: "WARN", attributes: { errorType: "rollback" } },
} as const satisfies Record<Exclude<Use["status"], "pending_confirmation">, Pick<Step, "outcome" | "severity" | "attributes">>;

function result(payload: Use): Step {
  const { status, result: returned, brief, description } = payload;
  const { attributes, ...came } = results[status === "pending_confirmation" ? "success" : status];
  const told = { brief, ...(description === undefined ? {} : { description }) };
  return {
    ...{ name: "tool_result", ...came, attributes: { ...toolOf(payload), ...attributes } },
    content: { gen_ai_tool_call_result_json: returned === undefined ? told : returned },
  };
}

/** The arguments, or else what the agent tells of them. */
function argumentsOf({ params, message }: Use): JsonObject {
  const given = params ?? (message && { ...message });
  return given ? { gen_ai_tool_call_arguments_json: given } : {};
}

/** Arguments are written by agents: what is longer than a name is content, which has no place among attributes. */
const isName = (value: Json | undefined): value is string => typeof value === "string" && value.length <= 128;

/** A connector is known where an approval of its use names it. */
function toolOf({ tool, actionId, params = {} }: Use): JsonObject {
  const { connector, name } = tool === "connector" || tool === "connector_oauth" ? params : {};
  return {
    ...{ genAiToolName: tool, genAiToolCallId: actionId },
    ...(isName(connector) ? { connectorUid: connector } : {}),
    ...(isName(name) ? { connectorName: name } : {}),
  };
}
