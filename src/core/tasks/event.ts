import type { Attachment } from "../files/attachment.ts";
import type { Json, JsonObject } from "../json.ts";

/** Types of a task's events, in the contract's words (contract/v2.md 7.5). */
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

/** Types that only a verbose list shows; streams show them always. */
export const verboseTypes: ReadonlySet<EventType> = new Set(["tool_used", "plan_update", "new_plan_step", "explanation"]);

/** A payload by type. Members are named as the proto's, in lowerCamelCase; absent is left out. */
export interface EventPayloads {
  user_message: { content: string; messageType: "text" | "voice"; attachments?: readonly Attachment[] };
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
  };
  plan_update: { steps: readonly PlanStep[] };
  new_plan_step: { stepId: string; title: string };
  explanation: { content: string };
}

/** How a question wants to be answered. */
export interface QuestionExpectation {
  readonly responseMethod: "send_message";
  /** Offered answers; free text is welcome all the same. */
  readonly options: readonly string[];
  readonly selectionMode: "single" | "multiple";
}

/** What a waiting task waits for: the event right before the status_update that says so. */
export interface WaitDetail {
  /** A kind of contract/v2.md 9.3. */
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

/** An event before it has its number. */
export type NewEvent = { readonly [T in EventType]: { readonly type: T; readonly payload: EventPayloads[T] } }[EventType];

/** An event of a task. `seq` starts at 1, without gap, verbose events included. */
export type TaskEvent = NewEvent & { readonly taskId: string; readonly seq: number /** Unix ms. */; readonly timestamp: number };

/** The id is the task's and the number's: unique for the life of a task, and it needs no index. */
export const eventId = (taskId: string, seq: number): string => `ev_${taskId}_${seq}`;

/** The number in an event id of this task; undefined for anything else. */
export function seqOf(taskId: string, id: string): number | undefined {
  const [, seq] = id.startsWith(`ev_${taskId}_`) ? id.split(`ev_${taskId}_`) : [];
  return seq !== undefined && /^[1-9][0-9]{0,9}$/.test(seq) ? Number(seq) : undefined;
}

/** A window on a task's events; the bounds exclude their own number. */
export interface EventWindow {
  readonly afterSeq?: number;
  readonly beforeSeq?: number;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Without it the verbose types are left out. */
  readonly verbose: boolean;
}

export interface EventRows {
  list(taskId: string, window: EventWindow): Promise<readonly TaskEvent[]>;
  /** Erases all events of a task. */
  erase(taskId: string): Promise<void>;
  /** Erases the events of up to `max` tasks that were deleted before then; answers of how many. */
  eraseDeleted(before: number, max: number): Promise<number>;
}
