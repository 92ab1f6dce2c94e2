import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { type EventPayloads, eventId, eventTypes, type PlanStep, type TaskEvent } from "../core/tasks/event.ts";
import {
  MessageTypeSchema,
  PlanStepStatusSchema,
  type TaskEventSchema,
  TaskEventTypeSchema,
  ToolUsedStatusSchema,
} from "../gen/proto/task/v2/task_event_pb.ts";
import { taskStatus } from "./task-words.ts";
import { wordsOf } from "./words.ts";

type Payload = NonNullable<MessageInitShape<typeof TaskEventSchema>["payload"]>;

const eventType = wordsOf(TaskEventTypeSchema, eventTypes);
const messageType = wordsOf(MessageTypeSchema, ["text", "voice"] as const);
const stepStatus = wordsOf(PlanStepStatusSchema, ["todo", "doing", "done", "failed"] as const);
const toolStatus = wordsOf(ToolUsedStatusSchema, ["success", "error", "rollback", "pending_confirmation"] as const);

/** An event as every wire and every list shows it (contract/v2.md 7.5). */
export const eventMessage = (event: TaskEvent): MessageInitShape<typeof TaskEventSchema> => ({
  id: eventId(event.taskId, event.seq),
  type: eventType.toValue(event.type),
  timestamp: BigInt(event.timestamp),
  seq: event.seq,
  payload: payloadOf(event),
});

function payloadOf(event: TaskEvent): Payload {
  switch (event.type) {
    case "user_message":
      return {
        case: "userMessage",
        value: { ...event.payload, attachments: [], messageType: messageType.toValue(event.payload.messageType) },
      };
    case "assistant_message":
      return { case: "assistantMessage", value: answerMessage(event.payload) };
    case "error_message":
      return { case: "errorMessage", value: event.payload };
    case "status_update":
      return { case: "statusUpdate", value: statusMessage(event, event.payload) };
    case "user_stop":
      return { case: "userStop", value: {} };
    case "structured_output_result":
      return { case: "structuredOutputResult", value: event.payload };
    case "tool_used":
      return { case: "toolUsed", value: useMessage(event.payload) };
    case "plan_update":
      return { case: "planUpdate", value: { steps: event.payload.steps.map(stepMessage) } };
    case "new_plan_step":
      return { case: "newPlanStep", value: event.payload };
    case "explanation":
      return { case: "explanation", value: event.payload };
  }
}

function answerMessage({ questionExpectation, attachments: _, ...said }: EventPayloads["assistant_message"]) {
  if (!questionExpectation) return said;
  return { ...said, questionExpectation: { ...questionExpectation, options: [...questionExpectation.options] } };
}

/** What is waited for stands right before the status that says so. */
function statusMessage({ taskId, seq }: TaskEvent, { statusDetail, agentStatus, ...said }: EventPayloads["status_update"]) {
  const status = { ...said, agentStatus: taskStatus.toValue(agentStatus) };
  return statusDetail ? { ...status, statusDetail: { ...statusDetail, waitingForEventId: eventId(taskId, seq - 1) } } : status;
}

function useMessage({ status, result, ...said }: EventPayloads["tool_used"]) {
  const use = { ...said, status: toolStatus.toValue(status) };
  return result === undefined ? use : { ...use, result: fromJson(ValueSchema, result) };
}

const stepMessage = ({ status, title, startedAt, endAt }: PlanStep) => ({
  status: stepStatus.toValue(status),
  title,
  ...(startedAt === undefined ? {} : { startedAt: BigInt(startedAt) }),
  ...(endAt === undefined ? {} : { endAt: BigInt(endAt) }),
});
