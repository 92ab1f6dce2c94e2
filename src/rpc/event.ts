import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Attachment } from "../core/files/attachment.ts";
import { type EventPayloads, eventId, eventTypes, type PlanStep, type TaskEvent } from "../core/tasks/event.ts";
import { AttachmentTypeSchema } from "../gen/proto/task/v2/task_attachment_pb.ts";
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
const attachmentType = wordsOf(AttachmentTypeSchema, ["image", "file", "voice", "slides"] as const);
const stepStatus = wordsOf(PlanStepStatusSchema, ["todo", "doing", "done", "failed"] as const);
const toolStatus = wordsOf(ToolUsedStatusSchema, ["success", "error", "rollback", "pending_confirmation"] as const);

/** The absolute address at which whoever has it may fetch a file for a while (contract/decisions.md 38). */
export type Link = (fileId: string) => string;

/** An event as every wire and every list shows it, with fresh links to its files (contract/v2.md 7.5). */
export const eventMessage = (event: TaskEvent, link: Link): MessageInitShape<typeof TaskEventSchema> => ({
  id: eventId(event.taskId, event.seq),
  type: eventType.toValue(event.type),
  timestamp: BigInt(event.timestamp),
  seq: event.seq,
  payload: payloadOf(event, link),
});

function payloadOf(event: TaskEvent, link: Link): Payload {
  switch (event.type) {
    case "user_message":
      return { case: "userMessage", value: requestMessage(event.payload, link) };
    case "assistant_message":
      return { case: "assistantMessage", value: answerMessage(event.payload, link) };
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

const requestMessage = ({ content, messageType: type, attachments = [] }: EventPayloads["user_message"], link: Link) => ({
  content,
  messageType: messageType.toValue(type),
  attachments: attachments.map((attachment) => attachmentMessage(attachment, link)),
});

function answerMessage({ questionExpectation, attachments: files = [], ...said }: EventPayloads["assistant_message"], link: Link) {
  const attachments = files.map((attachment) => attachmentMessage(attachment, link));
  if (!questionExpectation) return { ...said, attachments };
  return { ...said, attachments, questionExpectation: { ...questionExpectation, options: [...questionExpectation.options] } };
}

/** contract/v2.md 7.4. */
const attachmentMessage = ({ fileId, type, filename, contentType }: Attachment, link: Link) => ({
  type: attachmentType.toValue(type),
  filename,
  url: link(fileId),
  contentType,
});

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
