import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import { contentTypeOf, tidyFilename } from "../core/files/filename.ts";
import type { AttachmentCopy } from "../core/imports/imported-files.ts";
import type { EventCopy } from "../core/imports/imported-tasks.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { EventPayloads, NewEvent, PlanStep } from "../core/tasks/event.ts";
import type {
  ImportedAssistantMessage,
  ImportedAttachment,
  ImportedEvent,
  ImportedPlanStep,
  ImportedStatusUpdate,
  ImportedToolUsed,
} from "../gen/proto/dataimport/v1/event_pb.ts";
import { attachmentType, messageType, stepStatus, toolStatus } from "./event.ts";
import { taskStatus } from "./wire-values.ts";

const kibibyte = 1024;
/** The largest value of a tool and the largest structured output, in bytes of JSON. */
const valueMax = 1024 * kibibyte;
const schemaMax = 64 * kibibyte;

/**
 * Reads an event of another server. @throws Failure `invalid_argument` for a missing payload, or one beyond
 * its limits.
 */
export function eventCopyIn(event: ImportedEvent, index: number): EventCopy {
  const path = `events[${index}]`;
  const { payload } = event;
  const files =
    payload.case === "userMessage" || payload.case === "assistantMessage" ? payload.value.attachments : [];
  return {
    id: event.id,
    timestamp: Number(event.timestamp),
    event: newEvent(event, path),
    attachments: files.map((each, place) => attachmentIn(each, `${path}.attachments[${place}]`)),
  };
}

function attachmentIn({ type, filename, contentType }: ImportedAttachment, path: string): AttachmentCopy {
  const [name, shown] = [tidyFilename(filename), attachmentType.toName(type)];
  if (shown === undefined) throw invalidArgument(`${path}.type`, "is required");
  return { type: shown, filename: name, contentType: contentTypeOf(name, contentType ?? null) };
}

function newEvent({ payload }: ImportedEvent, path: string): NewEvent {
  switch (payload.case) {
    case "userMessage": {
      const { content, messageType: kind } = payload.value;
      return { type: "user_message", payload: { content, messageType: messageType.toName(kind) ?? "text" } };
    }
    case "assistantMessage":
      return { type: "assistant_message", payload: answerIn(payload.value) };
    case "errorMessage":
      return {
        type: "error_message",
        payload: { errorType: payload.value.errorType, content: payload.value.content },
      };
    case "statusUpdate":
      return { type: "status_update", payload: statusIn(payload.value, `${path}.status_update`) };
    case "userStop":
      return { type: "user_stop", payload: {} };
    case "structuredOutputResult": {
      const { success, value = {}, error } = payload.value;
      const checked = sized(value, valueMax, `${path}.structured_output_result.value`) as JsonObject;
      return {
        type: "structured_output_result",
        payload: { success, value: checked, ...defined({ error }) },
      };
    }
    case "toolUsed":
      return { type: "tool_used", payload: useIn(payload.value, `${path}.tool_used`) };
    case "planUpdate":
      return { type: "plan_update", payload: { steps: payload.value.steps.map(stepIn) } };
    case "newPlanStep":
      return { type: "new_plan_step", payload: { stepId: payload.value.stepId, title: payload.value.title } };
    case "explanation":
      return { type: "explanation", payload: { content: payload.value.content } };
    case undefined:
      throw invalidArgument(path, "payload is required");
  }
}

/** The rules of the fields allow no other names. */
function answerIn({
  content,
  deliveryKind,
  questionExpectation,
}: ImportedAssistantMessage): EventPayloads["assistant_message"] {
  const mode =
    questionExpectation?.selectionMode === "multiple" ? ("multiple" as const) : ("single" as const);
  return {
    content,
    ...(deliveryKind === undefined
      ? {}
      : { deliveryKind: deliveryKind as "result" | "progress" | "question" }),
    ...(questionExpectation
      ? {
          questionExpectation: {
            responseMethod: "send_message",
            options: questionExpectation.options,
            selectionMode: mode,
          },
        }
      : {}),
  };
}

function statusIn({ agentStatus, brief, description, statusDetail }: ImportedStatusUpdate, path: string) {
  const status = taskStatus.toName(agentStatus) ?? "stopped";
  if (statusDetail && status !== "waiting")
    throw invalidArgument(`${path}.status_detail`, "must only be sent with the state waiting");
  const schema = statusDetail?.confirmInputSchema;
  return {
    agentStatus: status,
    brief,
    ...defined({ description }),
    ...(statusDetail
      ? {
          statusDetail: {
            waitingForEventType: statusDetail.waitingForEventType,
            waitingDescription: statusDetail.waitingDescription,
            ...(schema
              ? {
                  confirmInputSchema: sized(
                    schema,
                    schemaMax,
                    `${path}.status_detail.confirm_input_schema`,
                  ) as JsonObject,
                }
              : {}),
          },
        }
      : {}),
  };
}

function useIn(
  { tool, actionId, status, brief, description, message, params, result }: ImportedToolUsed,
  path: string,
) {
  return {
    tool,
    actionId,
    brief,
    status: toolStatus.toName(status) ?? "success",
    ...defined({ description }),
    ...(message ? { message: { action: message.action, param: message.param } } : {}),
    ...(params ? { params: sized(params, valueMax, `${path}.params`) as JsonObject } : {}),
    ...(result ? { result: sized(toJson(ValueSchema, result), valueMax, `${path}.result`) } : {}),
  };
}

const stepIn = ({ status, title, startedAt, endAt }: ImportedPlanStep): PlanStep => ({
  status: stepStatus.toName(status) ?? "todo",
  title,
  ...(startedAt === undefined ? {} : { startedAt: Number(startedAt) }),
  ...(endAt === undefined ? {} : { endAt: Number(endAt) }),
});

function sized(value: Json, max: number, path: string): Json {
  if (Buffer.byteLength(JSON.stringify(value)) > max)
    throw invalidArgument(path, `must be at most ${max / kibibyte} KiB as JSON`);
  return value;
}
