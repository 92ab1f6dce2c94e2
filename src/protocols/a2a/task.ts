import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import { visible } from "../../core/actions/visible.ts";
import {
  type ArtifactSchema,
  type MessageSchema,
  type PartSchema,
  Role,
  type Task,
  TaskSchema,
  TaskState,
  type TaskStatusSchema,
} from "../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { showAct } from "../shared/ask.ts";
import type { Json, TaskEvent } from "../shared/operations.ts";
import { detailsOf, isQuestion, waitingOf } from "../shared/turn.ts";

type MessageInit = MessageInitShape<typeof MessageSchema>;
type ArtifactInit = MessageInitShape<typeof ArtifactSchema>;
type PartInit = MessageInitShape<typeof PartSchema>;
export type StatusInit = MessageInitShape<typeof TaskStatusSchema>;

export function stateOf(task: Json): TaskState {
  const { status, outcome, run_state: run } = task;
  if (status === "running") return run === "queued" ? TaskState.SUBMITTED : TaskState.WORKING;
  if (status === "error") return TaskState.FAILED;
  if (status === "stopped") return outcome === "stopped" ? TaskState.CANCELED : TaskState.COMPLETED;
  const waiting = waitingOf(task);
  return waiting && !isQuestion(waiting) ? TaskState.AUTH_REQUIRED : TaskState.INPUT_REQUIRED;
}

export const isOver = (state: TaskState): boolean =>
  state === TaskState.COMPLETED || state === TaskState.CANCELED || state === TaskState.FAILED;

/** Where a message or an update belongs. */
export interface TaskPlace {
  readonly taskId: string;
  readonly contextId: string;
}

/** The pair of a task's metadata with the context that its client made. */
export const contextKey = "a2a_context_id";

/** The context of a task is that of its client; without one its id, because a task is a conversation. */
export function placeOf({ id, metadata }: Json): TaskPlace {
  const taskId = String(id);
  return { taskId, contextId: (metadata as Readonly<Record<string, string>> | undefined)?.[contextKey] ?? taskId };
}

/** A task of the platform as one of the protocol. */
export function taskOf(task: Json, events: readonly TaskEvent[], historyLength?: number): Task {
  const place = placeOf(task);
  const history = events.flatMap((event) => messageOf(event, place) ?? []);
  return create(TaskSchema, {
    id: place.taskId,
    contextId: place.contextId,
    status: statusOf(task, events),
    artifacts: events.flatMap((event) => artifactOf(event) ?? []),
    history: historyLength === undefined ? history : historyLength === 0 ? [] : history.slice(-historyLength),
  });
}

/** The state of a task with a message that says what it waits for, what it has done, or why it failed. */
export function statusOf(task: Json, events: readonly TaskEvent[]): StatusInit {
  const parts = statusParts(task, events);
  const place = placeOf(task);
  return {
    state: stateOf(task),
    timestamp: timestampFromMs(Number(task["updated_at"]) * 1000),
    ...(parts.length > 0 && { message: agentMessage(`${place.taskId}.${task["last_seq"]}`, place, parts) }),
  };
}

function statusParts(task: Json, events: readonly TaskEvent[]): PartInit[] {
  const waiting = waitingOf(task);
  if (waiting) {
    const asked = events.find(({ id }) => id === waiting.eventId);
    const { content, question_expectation: expectation } = asked ? detailsOf(asked) : {};
    const facts = { event_id: waiting.eventId, kind: waiting.kind };
    if (isQuestion(waiting))
      return [textPart(visible(String(content ?? waiting.description))), dataPart({ ...facts, question_expectation: expectation })];
    const { text, isWhole } = showAct(waiting);
    const place = isWhole ? [textPart(`A person approves it at ${waiting.taskUrl}`)] : [];
    return [textPart(text), ...place, dataPart({ ...facts, ...(isWhole && { input_schema: waiting.schema }) })];
  }
  if (task["status"] === "running") return [];
  const last = events.findLast(({ type }) => type === (task["status"] === "error" ? "error_message" : "assistant_message"));
  return last ? [textPart(String(detailsOf(last)["content"]))] : [];
}

/** What a user or the agent said; undefined for other events. */
export function messageOf(event: TaskEvent, place: TaskPlace): MessageInit | undefined {
  if (event.type !== "user_message" && event.type !== "assistant_message") return undefined;
  const message = agentMessage(event.id, place, partsOf(event));
  return event.type === "user_message" ? { ...message, role: Role.USER } : message;
}

/** The result that an event has; undefined for an event without one. */
export function artifactOf(event: TaskEvent): ArtifactInit | undefined {
  const { delivery_kind: kind, attachments, value, success } = detailsOf(event);
  if (event.type === "structured_output_result")
    return {
      artifactId: event.id,
      name: "structured_output",
      parts: [dataPart(value)],
      ...(success === false && { description: "failed" }),
    };
  const hasFiles = Array.isArray(attachments) && attachments.length > 0;
  if (event.type !== "assistant_message" || kind === "question" || (kind === "progress" && !hasFiles)) return undefined;
  return { artifactId: event.id, name: kind === "progress" ? "files" : "result", parts: partsOf(event) };
}

const agentMessage = (messageId: string, place: TaskPlace, parts: PartInit[]): MessageInit & { readonly role: Role } => ({
  messageId,
  ...place,
  role: Role.AGENT,
  parts,
});

function partsOf(event: TaskEvent): PartInit[] {
  const { content, attachments } = detailsOf(event);
  const files = Array.isArray(attachments) ? attachments.map(filePart) : [];
  return content === "" && files.length > 0 ? files : [textPart(String(content)), ...files];
}

const filePart = ({ url, filename, content_type }: Json): PartInit => ({
  content: { case: "url", value: String(url ?? "") },
  filename: String(filename ?? ""),
  mediaType: String(content_type ?? ""),
});

const textPart = (text: string): PartInit => ({ content: { case: "text", value: text }, mediaType: "text/plain" });

/** @param value JSON, by the schema of the events; members that are undefined are left out. */
const dataPart = (value: unknown): PartInit => ({
  content: { case: "data", value: fromJson(ValueSchema, JSON.parse(JSON.stringify(value ?? null)) as JsonValue) },
  mediaType: "application/json",
});
