import { createHash } from "node:crypto";
import { defined } from "../../core/defined.ts";
import type { PackedSession } from "../../core/exports/archive-rows.ts";
import type { StepName } from "../../core/exports/export.ts";
import type { Attachment } from "../../core/files/file.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { EventPayloads, TaskEvent } from "../../core/tasks/event.ts";

/** Crockford's base 32. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The fields that determine a step's id. */
export interface StepPosition {
  readonly taskId: string;
  readonly seq: number;
  /** Unix milliseconds. */
  readonly timestamp: number;
  /** The index of the step in its event, from 0. */
  readonly part: number;
}

/**
 * The ULID of a step: the same in every export, and in one task ordered like its steps. The random bits of a
 * usual ULID are replaced by the event's number, the part, and 40 bits of the task's digest.
 */
export function stepUlid({ taskId, seq, timestamp, part }: StepPosition): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(timestamp, 0, 6);
  bytes.writeUInt32BE(seq, 6);
  bytes.writeUInt8(part, 10);
  createHash("sha256").update(taskId).digest().copy(bytes, 11, 0, 5);
  let [rest, text] = [BigInt(`0x${bytes.toString("hex")}`), ""];
  for (let at = 0; at < 26; at += 1, rest >>= 5n) text = (alphabet[Number(rest & 31n)] ?? "") + text;
  return text;
}

/** The outcome of a step (spec/enterprise.md 13, row 35); `UNKNOWN` for a use that waits for approval. */
export type StepOutcome = "SUCCESS" | "FAILURE" | "UNKNOWN";

/** A step of an agent's session (spec/enterprise.md 8.1). */
interface Step {
  readonly name: StepName;
  readonly outcome: StepOutcome;
  readonly severity: "INFO" | "WARN" | "ERROR";
  /** Its fields without content: members of `metadata`. */
  readonly attributes: JsonObject;
  /** Its content: members of `payload`, which is omitted when there are none. */
  readonly content: JsonObject;
}

/**
 * The steps of an event:
 *
 * | Event | Steps |
 * | --- | --- |
 * | `user_message` | USER_CHAT |
 * | `assistant_message` | AGENT_REPLY |
 * | `error_message` | AGENT_REPLY, a failure |
 * | `tool_used`, `pending_confirmation` | TOOL_CALL, once for a use, even if it asks several times |
 * | `tool_used`, any other status | TOOL_CALL, unless the use has asked before, and TOOL_RESULT |
 *
 * @param approvalIds ids of the task's uses that have requested a confirmation. The function adds the event's
 * use.
 */
export function stepsOf(event: TaskEvent, approvalIds: Set<string>): readonly Step[] {
  switch (event.type) {
    case "user_message":
      return [chat(event.payload)];
    case "assistant_message":
      return [reply(event.payload)];
    case "error_message":
      return [failedReply(event.payload)];
    case "tool_used":
      return use(event.payload, approvalIds);
    default:
      return [];
  }
}

const success = { outcome: "SUCCESS", severity: "INFO" } as const;

const chat = ({ content, attachments = [] }: EventPayloads["user_message"]): Step => ({
  name: "user_chat",
  ...success,
  attributes: {},
  content: { gen_ai_input_messages_json: [{ role: "user", parts: parts(content, attachments) }] },
});

const reply = ({ content, attachments = [] }: EventPayloads["assistant_message"]): Step => ({
  name: "agent_reply",
  ...success,
  attributes: {},
  content: outputMessages(parts(content, attachments), "stop"),
});

const failedReply = ({ errorType, content }: EventPayloads["error_message"]): Step => ({
  name: "agent_reply",
  outcome: "FAILURE",
  severity: "ERROR",
  attributes: { errorType },
  content: outputMessages(parts(content, []), "error"),
});

/** The form of OpenTelemetry's `gen_ai.output.messages`. */
const outputMessages = (parts: Json, reason: "stop" | "error"): JsonObject => ({
  gen_ai_output_messages_json: [{ role: "assistant", parts, finish_reason: reason }],
});

const parts = (content: string, attachments: readonly Attachment[]): JsonObject[] => [
  ...(content === "" ? [] : [{ type: "text", content }]),
  ...attachments.map(({ fileId, filename, contentType }) => ({
    type: "file",
    modality: modalityOf(contentType),
    mime_type: contentType,
    file_id: fileId,
    filename,
  })),
];

const modalityOf = (contentType: string): string =>
  /^(image|audio|video)\//.exec(contentType)?.[1] ?? "document";

type Use = EventPayloads["tool_used"];

function use(payload: Use, approvalIds: Set<string>): readonly Step[] {
  const { actionId, status } = payload;
  const called = approvalIds.has(actionId) ? [] : [call(payload)];
  if (status !== "pending_confirmation") return [...called, result(payload)];
  approvalIds.add(actionId);
  return called;
}

/** The call of a completed use was successful, independent of its result. */
const call = (payload: Use): Step => ({
  name: "tool_call",
  ...(payload.status === "pending_confirmation"
    ? ({ outcome: "UNKNOWN", severity: "INFO" } as const)
    : success),
  attributes: toolOf(payload),
  content: argumentsOf(payload),
});

const results = {
  success: { ...success, attributes: {} },
  error: { outcome: "FAILURE", severity: "ERROR", attributes: { errorType: "tool_error" } },
  rollback: { outcome: "FAILURE", severity: "WARN", attributes: { errorType: "rollback" } },
} as const satisfies Record<
  Exclude<Use["status"], "pending_confirmation">,
  Pick<Step, "outcome" | "severity" | "attributes">
>;

function result(payload: Use): Step {
  const { status, result: returned, brief, description } = payload;
  const { attributes, ...outcome } = results[status === "pending_confirmation" ? "success" : status];
  const summary = { brief, ...defined({ description }) };
  return {
    name: "tool_result",
    ...outcome,
    attributes: { ...toolOf(payload), ...attributes },
    content: { gen_ai_tool_call_result_json: returned === undefined ? summary : returned },
  };
}

/** The arguments, or else the agent's description of them. */
function argumentsOf({ params, message }: Use): JsonObject {
  const input = params ?? (message && { ...message });
  return input ? { gen_ai_tool_call_arguments_json: input } : {};
}

/** Agents write the arguments, so a longer value may be content, which must not be in the attributes. */
const isName = (value: Json | undefined): value is string => typeof value === "string" && value.length <= 128;

/** The connector is known if an approval of its use names it. */
function toolOf({ tool, actionId, params = {} }: Use): JsonObject {
  const { connector, name } = tool === "connector" || tool === "connector_oauth" ? params : {};
  return {
    genAiToolName: tool,
    genAiToolCallId: actionId,
    ...(isName(connector) ? { connectorUid: connector } : {}),
    ...(isName(name) ? { connectorName: name } : {}),
  };
}

/** The version of the lines' schema. */
const schemaVersion = "1.0";

/** A step, with its event and session. */
export interface StepContext {
  readonly step: Step;
  readonly event: TaskEvent;
  readonly session: Pick<PackedSession, "id" | "accountId" | "agentProfile">;
  readonly teamId: string;
  readonly includePayload: boolean;
}

/**
 * A line of `events.ndjson` (spec/enterprise.md 8.5, 13 row 34). Events are stored when they happen, so both
 * times are equal.
 */
export function stepLine({ step, event, session, teamId, includePayload }: StepContext): string {
  const { name, outcome, severity, attributes, content } = step;
  // Only a result can be the second step of its event.
  const eventId = stepUlid({ ...event, part: name === "tool_result" ? 1 : 0 });
  const occurredAt = new Date(event.timestamp).toISOString();
  const wireName = name.toUpperCase();
  const actor = {
    eventId,
    schemaVersion,
    eventName: `EVENT_NAME_${wireName}`,
    outcome,
    userId: session.accountId,
  };
  const context = { teamUid: teamId, sessionUid: session.id, occurredAt, ingestedAt: occurredAt };
  const line: JsonObject = {
    event_id: eventId,
    team_uid: teamId,
    user_id: session.accountId,
    session_uid: session.id,
    event_name: wireName,
    outcome,
    occurred_at: occurredAt,
    metadata: { ...actor, ...context, severity, genAiAgentName: session.agentProfile, ...attributes },
    ...(includePayload && Object.keys(content).length > 0 ? { payload: content } : {}),
  };
  return `${JSON.stringify(line)}\n`;
}
