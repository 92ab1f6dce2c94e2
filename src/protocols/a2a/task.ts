import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  isQuestion,
  type Task as OwnTask,
  type TaskAttachment,
  type TaskEvent,
} from "../../../packages/client/src/index.ts";
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
import { textOf, waitingOf } from "../shared/turn.ts";

type MessageInit = MessageInitShape<typeof MessageSchema>;
type ArtifactInit = MessageInitShape<typeof ArtifactSchema>;
type PartInit = MessageInitShape<typeof PartSchema>;
export type StatusInit = MessageInitShape<typeof TaskStatusSchema>;

/** What a task of the protocol shows of one of the platform. */
export type ShownTask = Pick<
  OwnTask,
  | "id"
  | "status"
  | "outcome"
  | "run_state"
  | "status_detail"
  | "task_url"
  | "metadata"
  | "last_seq"
  | "updated_at"
>;

export function stateOf(task: ShownTask): TaskState {
  const { status, outcome, run_state: runState } = task;
  if (status === "running") return runState === "queued" ? TaskState.SUBMITTED : TaskState.WORKING;
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
export const placeOf = ({ id, metadata }: Pick<OwnTask, "id" | "metadata">): TaskPlace => ({
  taskId: id,
  contextId: metadata?.[contextKey] ?? id,
});

/** A task of the platform as one of the protocol. */
export function taskOf(task: ShownTask, events: readonly TaskEvent[], historyLength?: number): Task {
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
export function statusOf(task: ShownTask, events: readonly TaskEvent[]): StatusInit {
  const parts = statusParts(task, events);
  const place = placeOf(task);
  return {
    state: stateOf(task),
    timestamp: timestampFromMs(task.updated_at * 1000),
    ...(parts.length > 0 && { message: agentMessage(`${place.taskId}.${task.last_seq}`, place, parts) }),
  };
}

function statusParts(task: ShownTask, events: readonly TaskEvent[]): PartInit[] {
  const waiting = waitingOf(task);
  if (waiting) {
    const {
      waiting_for_event_id: waitingForEventId,
      waiting_for_event_type: waitingForEventType,
      waiting_description,
    } = waiting;
    if (isQuestion(waiting)) {
      const asked = events.find(({ id }) => id === waitingForEventId);
      const { content = waiting_description, question_expectation } =
        asked?.type === "assistant_message" ? asked.assistant_message : {};
      return [
        textPart(visible(content)),
        dataPart({ event_id: waitingForEventId, kind: waitingForEventType, question_expectation }),
      ];
    }
    const { text, isWhole } = showAct(waiting);
    const place = isWhole ? [textPart(`A person approves it at ${waiting.task_url}`)] : [];
    return [
      textPart(text),
      ...place,
      dataPart({
        event_id: waitingForEventId,
        kind: waitingForEventType,
        ...(isWhole && { input_schema: waiting.confirm_input_schema }),
      }),
    ];
  }
  if (task.status === "running") return [];
  const last = events.findLast(
    ({ type }) => type === (task.status === "error" ? "error_message" : "assistant_message"),
  );
  return last ? [textPart(textOf(last))] : [];
}

/** What a user or the agent said; undefined for other events. */
export function messageOf(event: TaskEvent, place: TaskPlace): MessageInit | undefined {
  if (event.type !== "user_message" && event.type !== "assistant_message") return undefined;
  if (event.type === "assistant_message")
    return agentMessage(event.id, place, partsOf(event.assistant_message));
  return { ...agentMessage(event.id, place, partsOf(event.user_message)), role: Role.USER };
}

/** The result that an event has; undefined for an event without one. */
export function artifactOf(event: TaskEvent): ArtifactInit | undefined {
  if (event.type === "structured_output_result") {
    const { value, success } = event.structured_output_result;
    return {
      artifactId: event.id,
      name: "structured_output",
      parts: [dataPart(value)],
      ...(!success && { description: "failed" }),
    };
  }
  if (event.type !== "assistant_message") return undefined;
  const { delivery_kind: deliveryKind, attachments } = event.assistant_message;
  if (deliveryKind === "question" || (deliveryKind === "progress" && attachments.length === 0))
    return undefined;
  return {
    artifactId: event.id,
    name: deliveryKind === "progress" ? "files" : "result",
    parts: partsOf(event.assistant_message),
  };
}

const agentMessage = (
  messageId: string,
  place: TaskPlace,
  parts: PartInit[],
): MessageInit & { readonly role: Role } => ({
  messageId,
  ...place,
  role: Role.AGENT,
  parts,
});

function partsOf({
  content,
  attachments,
}: {
  readonly content: string;
  readonly attachments: readonly TaskAttachment[];
}): PartInit[] {
  const files = attachments.map(filePart);
  return content === "" && files.length > 0 ? files : [textPart(content), ...files];
}

const filePart = ({ url, filename, content_type: contentType = "" }: TaskAttachment): PartInit => ({
  content: { case: "url", value: url },
  filename,
  mediaType: contentType,
});

const textPart = (text: string): PartInit => ({
  content: { case: "text", value: text },
  mediaType: "text/plain",
});

/** @param value JSON, by the schema of the events; members that are undefined are left out. */
const dataPart = (value: unknown): PartInit => ({
  content: { case: "data", value: fromJson(ValueSchema, JSON.parse(JSON.stringify(value ?? null))) },
  mediaType: "application/json",
});
