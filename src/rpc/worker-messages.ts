import {
  type DescMessage,
  fromJson,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { inputSchema, isKind, isQuestion, variantsOf } from "../core/actions/kind.ts";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import type { Attachment } from "../core/files/file.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { jsonDigest } from "../core/json-digest.ts";
import { toDownloadId } from "../core/skills/content.ts";
import type { EventPayloads, NewEvent, PlanStep, TaskEvent } from "../core/tasks/event.ts";
import type { HistoryEntry } from "../core/tasks/history.ts";
import type { RemoteRun, RemoteWait, SentEvent, SentOutcome } from "../core/workers/remote-run.ts";
import {
  type Event,
  EventSchema,
  type PlanStep as StepMessage,
  type ToolUsed,
} from "../gen/proto/worker/v1/event_pb.ts";
import type {
  FileSchema,
  HistoryEntrySchema,
  MessageSchema,
  RunSchema,
  WaitedSubtaskSchema,
} from "../gen/proto/worker/v1/run_pb.ts";
import type { Confirm, FinishRequest, Wait } from "../gen/proto/worker/v1/worker_service_pb.ts";
import type { Link } from "./event.ts";

/** The wire form of a run for a worker, with new links to its files. */
export const runMessage = (run: RemoteRun, link: Link): MessageInitShape<typeof RunSchema> => ({
  taskId: run.taskId,
  fence: run.fence,
  leaseSeconds: run.leaseMs / 1000,
  claim: run.claim,
  title: run.title,
  locale: run.locale,
  profile: run.profile,
  instruction: run.instruction,
  interactive: run.interactive,
  earlier: run.history.flatMap((entry) =>
    entry.role === "tool" ? [] : [{ role: entry.role, content: entry.content }],
  ),
  history: run.history.map((entry) => historyMessage(entry, link)),
  messages: run.asked.map((message) => requestMessage(message, link)),
  events: run.written.map(({ event, key }) => ({
    seq: event.seq,
    event: { key, payload: payloadOf(event) },
  })),
  decisions: [...run.decisions],
  taskReferences: [...run.references],
  skills: run.skills.map(({ id, name, description, forced }) => ({
    id,
    name,
    description,
    forced,
    url: link(toDownloadId(id)),
  })),
  connectors: run.connectors.map(({ uid, name, tools }) => ({
    id: uid,
    name,
    tools: tools.map(({ policy, ...tool }) => ({ ...tool, asks: policy === "ask" })),
  })),
  ...(run.subtasks === null
    ? {}
    : {
        mayBeginSubtasks: true,
        subtasks: run.subtasks.map(({ id: taskId, title, status, lastMessage }) => ({
          taskId,
          title,
          status,
          said: lastMessage,
        })),
      }),
  waits: run.waits.map(({ mode, reason, subtasks }) => ({
    mode,
    reason,
    subtasks: subtasks.map((each) => waitedMessage(each, link)),
  })),
  ...(run.traceparent === null ? {} : { traceparent: run.traceparent }),
  ...(run.outputSchema === null ? {} : { outputSchema: run.outputSchema }),
  ...(run.memo === null ? {} : { memo: fromJson(ValueSchema, run.memo) }),
});

function historyMessage(entry: HistoryEntry, link: Link): MessageInitShape<typeof HistoryEntrySchema> {
  if (entry.role !== "tool") return { role: entry.role, ...requestMessage(entry, link) };
  const { seq: _, role, isShortened, result, ...use } = entry;
  return { role, tool: { ...use, shortened: isShortened, result: fromJson(ValueSchema, result) } };
}

/** A subtask when a wait for it was over, with links to its files. */
const waitedMessage = (
  { id: taskId, title, status, lastMessage, output, attachments }: RemoteWait["subtasks"][number],
  link: Link,
): MessageInitShape<typeof WaitedSubtaskSchema> => ({
  taskId,
  title,
  status,
  said: lastMessage,
  files: attachments.map((attachment) => fileMessage(attachment, link)),
  ...(output === undefined ? {} : { output: fromJson(ValueSchema, output) }),
});

const fileMessage = (
  { fileId, filename, contentType, bytes }: Attachment,
  link: Link,
): MessageInitShape<typeof FileSchema> => ({
  filename,
  contentType,
  bytes,
  url: link(fileId),
});

export const requestMessage = (
  { content, attachments = [] }: Pick<EventPayloads["user_message"], "content" | "attachments">,
  link: Link,
) =>
  ({
    content,
    files: attachments.map((attachment) => fileMessage(attachment, link)),
  }) satisfies MessageInitShape<typeof MessageSchema>;

/** The payload in the form of Append; events that workers cannot append have none. */
function payloadOf(event: TaskEvent): NonNullable<MessageInitShape<typeof EventSchema>["payload"]> {
  switch (event.type) {
    case "assistant_message":
      return { case: "assistantMessage", value: { content: event.payload.content } };
    case "plan_update":
      return { case: "planUpdate", value: { steps: event.payload.steps.map(stepMessage) } };
    case "new_plan_step":
      return { case: "newPlanStep", value: event.payload };
    case "tool_used":
      return { case: "toolUsed", value: useMessage(event.payload) };
    case "explanation":
      return { case: "explanation", value: event.payload };
    default:
      return { case: undefined };
  }
}

function useMessage({ result, ...rest }: EventPayloads["tool_used"]) {
  return result === undefined ? rest : { ...rest, result: fromJson(ValueSchema, result) };
}

const stepMessage = ({ status, title, startedAt, endAt }: PlanStep) => ({
  status,
  title,
  ...(startedAt === undefined ? {} : { startedAt: BigInt(startedAt) }),
  ...(endAt === undefined ? {} : { endAt: BigInt(endAt) }),
});

const kibibyte = 1024;
/** The largest input or result of a tool, and the largest memo, in bytes of JSON. */
const detailMax = 64 * kibibyte;
const outputMax = 256 * kibibyte;

/**
 * Reads an event of a worker. @throws Failure `invalid_argument` for a missing payload, or one beyond its
 * limits.
 */
export function eventIn(event: Event, index: number): SentEvent {
  const { key, payload } = event;
  const path = `events[${index}]`;
  const uploadIds = payload.case === "assistantMessage" ? payload.value.uploadIds : [];
  const site = payload.case === "toolUsed" ? siteIn(payload.value, `${path}.tool_used`) : {};
  return { key, digest: digestOf(EventSchema, event), event: newEvent(event, path), uploadIds, ...site };
}

function siteIn({ site, status }: ToolUsed, path: string): Pick<SentEvent, "site"> {
  if (site === undefined) return {};
  const at = `${path}.site`;
  if (status !== "success") throw invalidArgument(at, "must not be sent with a failed use");
  const { title, message, uploadId } = site;
  return { site: { at, title, message, uploadId } };
}

function newEvent({ key, payload }: Event, path: string): NewEvent {
  switch (payload.case) {
    case "assistantMessage":
      return {
        type: "assistant_message",
        payload: { content: payload.value.content, deliveryKind: "progress" },
      };
    case "planUpdate":
      return { type: "plan_update", payload: { steps: payload.value.steps.map(planStep) } };
    case "newPlanStep":
      return { type: "new_plan_step", payload: { stepId: payload.value.stepId, title: payload.value.title } };
    case "toolUsed":
      return { type: "tool_used", payload: toolUse(payload.value, key, `${path}.tool_used`) };
    case "explanation":
      return { type: "explanation", payload: { content: payload.value.content } };
    case undefined:
      throw invalidArgument(path, "payload is required");
  }
}

function toolUse(
  { tool, actionId, status, brief, description, message, params, result }: ToolUsed,
  key: string,
  path: string,
) {
  return {
    tool,
    brief,
    actionId: actionId || key,
    status: status === "error" ? ("error" as const) : ("success" as const),
    ...defined({ description }),
    ...(message ? { message: { action: message.action, param: message.param } } : {}),
    ...(params ? { params: checkSize(params, detailMax, `${path}.params`) as JsonObject } : {}),
    ...(result ? { result: checkSize(jsonOf(result), detailMax, `${path}.result`) } : {}),
  };
}

/** The wire rule allows no other status. */
const planStep = ({ status, title, startedAt, endAt }: StepMessage): PlanStep => ({
  status: status as PlanStep["status"],
  title,
  ...(startedAt === undefined ? {} : { startedAt: Number(startedAt) }),
  ...(endAt === undefined ? {} : { endAt: Number(endAt) }),
});

/**
 * Reads the outcome of a turn. @throws Failure `invalid_argument` for a missing outcome, an unknown kind, or
 * one beyond its limits.
 */
export function outcomeIn({ outcome }: FinishRequest): SentOutcome {
  switch (outcome.case) {
    case "finish": {
      const { content, uploadIds, output } = outcome.value;
      const value = output ? { output: checkSize(jsonOf(output), outputMax, "finish.output") } : {};
      return { kind: "finish", content, uploadIds, ...value };
    }
    case "ask": {
      const { content, options, memo } = outcome.value;
      return {
        kind: "ask",
        content,
        options,
        memo: memo ? checkSize(jsonOf(memo), detailMax, "ask.memo") : null,
      };
    }
    case "confirm":
      return approvalIn(outcome.value);
    case "wait":
      return waitIn(outcome.value);
    case "fail":
      return { kind: "fail", errorType: outcome.value.errorType, content: outcome.value.content };
    case undefined:
      throw invalidArgument("", "one of finish, ask, confirm, wait and fail is required");
  }
}

function approvalIn({ kind, variant: requested, description, params, memo }: Confirm): SentOutcome {
  if (!isKind(kind) || isQuestion(kind))
    throw invalidArgument("confirm.kind", "must be a kind of action that can be approved");
  const variant = requested || (variantsOf(kind)[0] ?? "");
  if (inputSchema(kind, variant) === undefined)
    throw invalidArgument("confirm.variant", `is not a variant of ${kind}`);
  return {
    kind: "confirm",
    action: kind,
    variant,
    ...(description === "" ? {} : { description }),
    ...(params ? { params: checkSize(params, detailMax, "confirm.params") as JsonObject } : {}),
    ...(memo ? { memo: checkSize(jsonOf(memo), detailMax, "confirm.memo") } : {}),
  };
}

/** The wire rule allows no other mode. */
const waitIn = ({ taskIds, mode, timeoutSeconds, memo }: Wait): SentOutcome => ({
  kind: "wait",
  mode: mode === "any" ? "any" : "all",
  ...(taskIds.length === 0 ? {} : { subtasks: taskIds }),
  ...(timeoutSeconds === 0 ? {} : { timeoutMs: timeoutSeconds * 1000 }),
  ...(memo ? { memo: checkSize(jsonOf(memo), detailMax, "wait.memo") } : {}),
});

/** The digest of a message, independent of wire and member order. */
export const digestOf = <D extends DescMessage>(schema: D, message: MessageShape<D>): string =>
  jsonDigest(toJson(schema, message));

const jsonOf = (value: Value): Json => toJson(ValueSchema, value);

function checkSize(value: Json, max: number, path: string): Json {
  if (Buffer.byteLength(JSON.stringify(value)) > max)
    throw invalidArgument(path, `must be at most ${max / kibibyte} KiB as JSON`);
  return value;
}
