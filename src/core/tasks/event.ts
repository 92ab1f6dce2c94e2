import type { Attachment } from "../files/file.ts";
import type { Json, JsonObject } from "../json.ts";
import { dayMs, purgingInBatches } from "../processes/timed-job.ts";

/** Types of a task's events, with the API's names (spec/api.md 7.5). */
export const eventTypes = [
  "user_message",
  "assistant_message",
  "error_message",
  "status_update",
  "user_stop",
  "structured_output_result",
  "tool_used",
  "plan_update",
  "new_plan_step",
  "explanation",
] as const;
export type EventType = (typeof eventTypes)[number];

/** Types that lists contain only when they are verbose; streams always contain them. */
export const verboseTypes: ReadonlySet<EventType> = new Set([
  "tool_used",
  "plan_update",
  "new_plan_step",
  "explanation",
]);

/** A payload by type. Members have the proto's names in lowerCamelCase; absent members are omitted. */
export interface EventPayloads {
  user_message: {
    content: string;
    messageType: "text" | "voice";
    attachments?: readonly Attachment[];
    /** No running turn reads it, nor a message behind it. Not on the wire. */
    delivery?: "next_turn";
  };
  assistant_message: {
    content: string;
    attachments?: readonly Attachment[];
    deliveryKind?: "result" | "progress" | "question";
    questionExpectation?: QuestionExpectation;
  };
  error_message: { errorType: string; content: string };
  status_update: {
    agentStatus: "running" | "stopped" | "waiting" | "error";
    brief: string;
    description?: string;
    /** With `waiting` only. */
    statusDetail?: WaitDetail;
  };
  user_stop: Record<string, never>;
  structured_output_result: { success: boolean; value: JsonObject; error?: string };
  tool_used: {
    tool: string;
    actionId: string;
    status: "success" | "error" | "rollback" | "pending_confirmation";
    brief: string;
    description?: string;
    message?: { action: string; param: string };
    params?: JsonObject;
    result?: Json;
    /** The rule that allowed the use: `task: bash git *`. Absent: no rule had to, or a person did. */
    allowedBy?: string;
  };
  plan_update: { steps: readonly PlanStep[] };
  new_plan_step: { stepId: string; title: string };
  explanation: { content: string };
}

/** The expected form of an answer to a question. */
export interface QuestionExpectation {
  readonly responseMethod: "send_message";
  /** Suggested answers; free text is accepted too. */
  readonly options: readonly string[];
  readonly selectionMode: "single" | "multiple";
}

/** The reason of a wait: the event directly before the status_update that has this detail. */
export interface WaitDetail {
  /** A kind of spec/api.md 9.3. */
  readonly waitingForEventType: string;
  readonly waitingDescription: string;
  /** Absent for a question. */
  readonly confirmInputSchema?: JsonObject;
}

/** One step of a plan; times are Unix seconds. */
export interface PlanStep {
  readonly status: "todo" | "doing" | "done" | "failed";
  readonly title: string;
  readonly startedAt?: number;
  readonly endAt?: number;
}

/** An event without a number. */
export type NewEvent = {
  readonly [T in EventType]: { readonly type: T; readonly payload: EventPayloads[T] };
}[EventType];

/** An event of a task. `seq` starts at 1 and has no gaps; verbose events count too. */
export type TaskEvent = NewEvent & {
  readonly taskId: string;
  readonly seq: number /** Unix ms. */;
  readonly timestamp: number;
};

/** The last events of a task, as they were written with its current numbers and times. */
export const lastEvents = (
  { id: taskId, lastSeq, lastTimestamp }: { id: string; lastSeq: number; lastTimestamp: number },
  events: readonly NewEvent[],
): readonly TaskEvent[] =>
  events.map((event, index) => {
    const before = events.length - 1 - index;
    return { ...event, taskId, seq: lastSeq - before, timestamp: lastTimestamp - before };
  });

/** The id consists of the task's id and the event's number: unique within the task, without an index. */
export const eventId = (taskId: string, seq: number): string => `ev_${taskId}_${seq}`;

/** The number in an event id of this task; undefined for any other text. */
export function parseEventId(taskId: string, id: string): number | undefined {
  const [, seq] = id.startsWith(`ev_${taskId}_`) ? id.split(`ev_${taskId}_`) : [];
  return seq !== undefined && /^[1-9][0-9]{0,9}$/.test(seq) ? Number(seq) : undefined;
}

/** A range of a task's events; the bounds are exclusive. */
export interface EventWindow {
  readonly afterSeq?: number;
  readonly beforeSeq?: number;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** False omits the verbose types. */
  readonly verbose: boolean;
  /** Only these types. */
  readonly types?: readonly EventType[];
}

export interface EventRows {
  list(taskId: string, window: EventWindow): Promise<readonly TaskEvent[]>;
  /** Sets the size of a file in the message that has it as an attachment. Callers do not see this size. */
  setAttachmentBytes(taskId: string, seq: number, fileId: string, bytes: number): Promise<void>;
  deleteOfTask(taskId: string): Promise<void>;
  /**
   * Deletes the events of up to `max` tasks that were deleted before the given time; returns the number of
   * tasks.
   */
  purge(before: number, max: number): Promise<number>;
}

/** Deletes the events of tasks that were deleted DELETED_TASK_DAYS ago. */
export const purgeEvents = purgingInBatches("purge-events", 100, (tx, now, max, { deletedTaskDays }) =>
  tx.events.purge(now - deletedTaskDays * dayMs, max),
);
