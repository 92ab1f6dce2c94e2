import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Attachment } from "../core/files/file.ts";
import {
  type EventPayloads,
  eventId,
  eventTypes,
  type PlanStep,
  type TaskEvent,
  type WaitDetail,
} from "../core/tasks/event.ts";
import type { TextDelta } from "../core/tasks/live-text.ts";
import { AttachmentTypeSchema } from "../gen/proto/task/v2/task_attachment_pb.ts";
import {
  MessageTypeSchema,
  PlanStepStatusSchema,
  type TaskEventSchema,
  TaskEventTypeSchema,
  ToolUsedStatusSchema,
} from "../gen/proto/task/v2/task_event_pb.ts";
import type { TextDeltaSchema } from "../gen/proto/task/v2/task_service_pb.ts";
import { enumConverter, taskStatus } from "./wire-values.ts";

type Payload = NonNullable<MessageInitShape<typeof TaskEventSchema>["payload"]>;

const eventType = enumConverter(TaskEventTypeSchema, eventTypes);
export const messageType = enumConverter(MessageTypeSchema, ["text", "voice"] as const);
export const attachmentType = enumConverter(AttachmentTypeSchema, [
  "image",
  "file",
  "voice",
  "slides",
] as const);
export const stepStatus = enumConverter(PlanStepStatusSchema, ["todo", "doing", "done", "failed"] as const);
export const toolStatus = enumConverter(ToolUsedStatusSchema, [
  "success",
  "error",
  "rollback",
  "pending_confirmation",
] as const);

/** Creates the absolute URL of a file. The URL needs no credential and expires (spec/decisions.md 38). */
export type Link = (fileId: string) => string;

/** The wire form of an event, with new links to its files (spec/api.md 7.5). */
export const eventMessage = (event: TaskEvent, link: Link): MessageInitShape<typeof TaskEventSchema> => ({
  id: eventId(event.taskId, event.seq),
  type: eventType.toValue(event.type),
  timestamp: BigInt(event.timestamp),
  seq: event.seq,
  payload: payloadOf(event, link),
});

/** The wire form of a part of a text (spec/api.md 8.72). */
export const deltaMessage = ({
  key,
  attempt,
  offset,
  text,
  type,
}: TextDelta): MessageInitShape<typeof TextDeltaSchema> => ({
  messageKey: key,
  offset,
  text,
  attempt: BigInt(attempt),
  type: eventType.toValue(type),
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

const requestMessage = (
  { content, messageType: type, attachments = [] }: EventPayloads["user_message"],
  link: Link,
) => ({
  content,
  messageType: messageType.toValue(type),
  attachments: attachments.map((attachment) => attachmentMessage(attachment, link)),
});

function answerMessage(
  { questionExpectation, attachments: files = [], ...rest }: EventPayloads["assistant_message"],
  link: Link,
) {
  const attachments = files.map((attachment) => attachmentMessage(attachment, link));
  if (!questionExpectation) return { ...rest, attachments };
  return {
    ...rest,
    attachments,
    questionExpectation: { ...questionExpectation, options: [...questionExpectation.options] },
  };
}

/** The wire form of an attachment (spec/api.md 7.4). */
export const attachmentMessage = (
  { fileId, type, filename, contentType }: Omit<Attachment, "bytes">,
  link: Link,
) => ({
  type: attachmentType.toValue(type),
  filename,
  url: link(fileId),
  contentType,
});

/** The wire form of a status. The event that the task waits for is directly before it. */
function statusMessage(
  { taskId, seq }: TaskEvent,
  { statusDetail, agentStatus, ...rest }: EventPayloads["status_update"],
) {
  const status = { ...rest, agentStatus: taskStatus.toValue(agentStatus) };
  return statusDetail ? { ...status, statusDetail: waitMessage(taskId, seq, statusDetail) } : status;
}

/** The wire form of a wait. @param seq the number of the status. */
export const waitMessage = (taskId: string, seq: number, detail: WaitDetail) => ({
  ...detail,
  waitingForEventId: eventId(taskId, seq - 1),
});

function useMessage({ status, result, ...rest }: EventPayloads["tool_used"]) {
  const use = { ...rest, status: toolStatus.toValue(status) };
  return result === undefined ? use : { ...use, result: fromJson(ValueSchema, result) };
}

export const stepMessage = ({ status, title, startedAt, endAt }: PlanStep) => ({
  status: stepStatus.toValue(status),
  title,
  ...(startedAt === undefined ? {} : { startedAt: BigInt(startedAt) }),
  ...(endAt === undefined ? {} : { endAt: BigInt(endAt) }),
});
