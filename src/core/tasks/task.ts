import type { Json, JsonObject } from "../json.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import type { Visibility } from "../visibility.ts";
import type { NewEvent, WaitDetail } from "./event.ts";
import type { Metadata } from "./metadata.ts";
import type { NewTranscriptRow } from "./transcript.ts";
import type { TurnRequest } from "./turn-request.ts";

export type TaskStatus = "running" | "stopped" | "waiting" | "error";
export type TaskType = "standard" | "project" | "agent_subtask";

/** A unit of an agent's work, with all that decides who may see it and which process runs it. */
export interface Task {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The app that created it; null for a key. */
  readonly clientId: string | null;
  readonly apiKeyId: string | null;
  readonly projectId: string | null;
  /** The agent whose main task or, by `type`, subtask this is. */
  readonly agentId: string | null;
  /** The schedule that created it, which may be deleted since. */
  readonly scheduleId: string | null;
  readonly type: TaskType;
  readonly title: string;
  readonly status: TaskStatus;
  /** The effective visibility: the set value, within the team's cap (spec/enterprise.md 9.1). */
  readonly shareVisibility: Visibility;
  /** Hidden from the web app's list. */
  readonly hidden: boolean;
  /** The requested profile of the latest turn, spelled `manus-1.6…`. */
  readonly agentProfile: string;
  readonly locale: string;
  readonly interactive: boolean;
  /** The 20 most recently referenced tasks (spec/api.md 9.8). */
  readonly references: readonly string[];
  readonly credits: number;
  readonly metadata: Metadata;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastMessageAt: number;
  /** The number of the newest event. */
  readonly lastSeq: number;
  /** The time of the newest event, Unix ms. */
  readonly lastTimestamp: number;
  /** The number of the newest user_message. */
  readonly messageSeq: number;
  /** Messages up to this number were handled in earlier turns. */
  readonly answeredSeq: number;
  /** The last message of the turn: events that the agent adds in this turn have greater numbers. */
  readonly consumedSeq: number;
  /** The last message that an agent has read while it worked; 0 before. `readUpTo` has all. */
  readonly readSeq: number;
  /** Raised whenever another runner receives the right to write. */
  readonly fence: number;
  /** The process that runs it; null when none does. */
  readonly nodeId: string | null;
  /**
   * The only process that may run it while that process is alive: it has the task's browser. Null: any
   * process.
   */
  readonly requiredNodeId: string | null;
  /** The number of claims of this turn. */
  readonly claims: number;
  /** Consecutive claims that added no event. */
  readonly idleClaims: number;
  /** Since when it has waited for a runner, Unix ms. */
  readonly queuedAt: number;
  /** When a runner last claimed it, Unix ms; 0 before the first claim. */
  readonly lastClaimedAt: number;
  /**
   * A structured output was requested: the next finish reports a value that conforms to it (spec/api.md 9.5).
   */
  readonly hasOutputSchema: boolean;
  /** The agent has left a memo for the current turn, or the latest message came with a `TurnRequest`. */
  readonly hasMemoOrRequest: boolean;
  /**
   * The actions that need no further approval in this task, as `allowance` names them (spec/decisions.md 15).
   */
  readonly allowed: readonly string[];
  /** Its own rules for uses of tools. Those of its schedule, or of its parent, were copied at its creation. */
  readonly permissions: readonly PermissionRule[];
  /**
   * Its agent has read texts of third parties: pages, results of connectors, mail, files of others, or answers of
   * such subtasks. It never becomes false.
   */
  readonly untrusted: boolean;
  /** The task whose agent started this subtask; null for any other task. */
  readonly parentId: string | null;
  /** The first task of the tree; null for a task that is not a subtask. */
  readonly rootId: string | null;
  /** 0, or the number of tasks above a subtask. */
  readonly depth: number;
  /** The turn in which the parent started it: its `consumedSeq`; 0 for any other task. */
  readonly parentTurn: number;
  /** The number of subtasks that it has started itself. */
  readonly subtasks: number;
  /** Where an imported task comes from; null for any other task. */
  readonly importedFrom: ImportedFrom | null;
  /**
   * The trace of the call that began its latest turn, as `traceparent` (W3C Trace Context); null without one.
   */
  readonly traceparent: string | null;
}

/** Messages up to this number were read by an agent. Later ones begin a turn, or are read in the present one. */
export const readUpTo = ({ consumedSeq, readSeq }: Pick<Task, "consumedSeq" | "readSeq">): number =>
  Math.max(consumedSeq, readSeq);

export interface ImportedFrom {
  readonly origin: string;
  readonly id: string;
  /** When it was imported, Unix milliseconds. */
  readonly at: number;
}

export interface LatestStatus {
  readonly status: TaskStatus;
  readonly brief: string;
  readonly detail?: WaitDetail;
  /**
   * The description of `detail` shows the whole action (`isWhole`); absent for all others, and for waits of
   * before 0.2.0.
   */
  readonly isWhole?: true;
  /** The user's stop ended the turn. */
  readonly byUser?: true;
}

/**
 * The state that a task shows in lists, in addition to its status. Members are null before the first event of
 * their type.
 */
export interface TaskProgress {
  readonly latestStatus: LatestStatus | null;
  /** The number of the latest status_update. */
  readonly statusSeq: number | null;
  /** The steps of the latest plan that are done, and all of its steps. */
  readonly planDone: number | null;
  readonly planTotal: number | null;
}

/** A task as lists and `task.detail` return it: with its progress, and the current names of its creators. */
export interface TaskView extends Task, TaskProgress {
  /**
   * When it last began to wait for its user, Unix ms; 0 for never, and for a wait that began in a release
   * before 0.2.0.
   */
  readonly waitingSince: number;
  readonly apiKeyName: string | null;
  /** Null without a name. */
  readonly accountName: string | null;
  /** The name of the app that created it; null without one. */
  readonly appName: string | null;
  /**
   * While it waits for a runner: when a worker of its space and profile last called, Unix ms. Otherwise null.
   */
  readonly workerSeenAt: number | null;
  /** Its own subtasks by state; 0 in each state without subtasks. */
  readonly subtasksRunning: number;
  readonly subtasksWaiting: number;
  readonly subtasksStopped: number;
  readonly subtasksFailed: number;
  /** True while a task below it runs. */
  readonly hasRunningSubtasks: boolean;
  /** The credits of all tasks below it; 0 for a subtask. */
  readonly subtaskCredits: number;
}

/** A task as visitors of its share link see it. `id` and `lastSeq` are for reading its events. */
export type SharedTask = Pick<Task, "id" | "title" | "status" | "createdAt" | "updatedAt" | "lastSeq">;

/** The changeable fields; `advance` maintains the event counters itself. */
export type TaskChanges = Partial<
  Pick<
    Task,
    | "title"
    | "status"
    | "shareVisibility"
    | "hidden"
    | "agentProfile"
    | "references"
    | "metadata"
    | "projectId"
    | "type"
    | "nodeId"
    | "requiredNodeId"
    | "queuedAt"
    | "claims"
    | "idleClaims"
    | "allowed"
    | "permissions"
    | "untrusted"
    | "traceparent"
    | "readSeq"
  >
> & {
  /** The team's cap on its visibility. */
  readonly maxVisibility?: Visibility;
  /** Raises the fence by one: the previous runner may write no more. */
  readonly raiseFence?: true;
  /** Sets `requiredNodeId` to the process that has the task's browser, or null when no browser is online. */
  readonly toBrowser?: true;
  /**
   * Begins a turn with every message so far: answeredSeq = the last message that was read, consumedSeq = the
   * new lastSeq, claims = 1, idleClaims = 0.
   */
  readonly beginTurn?: true;
  /** Ends the time limit of the turn. */
  readonly turnUntil?: null;
  /** Requests a structured output instead of an earlier one; null removes the request. */
  readonly outputSchema?: JsonObject | null;
  /**
   * The agent's memo for the turn after its question, or for the run that has a decision; null deletes it.
   */
  readonly memo?: Json;
  /** What came with the latest message by the Responses API; null for nothing. */
  readonly turnRequest?: TurnRequest | null;
  readonly addCredits?: number;
  /** Adds to the number of subtasks that it has started. */
  readonly addSubtasks?: number;
  /** One of the events is a user_message, the first: messageSeq becomes its number. */
  readonly addsMessage?: true;
};

/** A conditional change of a task, with events and rows of its transcript. */
export interface Advance {
  readonly now: number;
  /** Nothing is written unless all conditions hold. */
  readonly when?: {
    readonly fence?: number;
    readonly nodeId?: string | null;
    readonly status?: TaskStatus /** The turn has read every user_message: messageSeq <= `readUpTo`. */;
    readonly consumed?: true;
  };
  readonly set?: TaskChanges;
  readonly events?: readonly NewEvent[];
  readonly rows?: readonly NewTranscriptRow[];
}

/**
 * A task that a change has just created or updated. `PublishTask` must have it in the same change if it has
 * events or another status.
 */
export interface TaskWritten {
  /** The new row. */
  readonly task: Task;
  readonly isNew: boolean;
  /** The events written with it, in order: the last one has the task's `lastSeq`. */
  readonly events: readonly NewEvent[];
  /** Whether its account, or the app that created it, has an active webhook. False without events. */
  readonly hasWebhooks: boolean;
}

/** The input of a turn in addition to the messages. */
export interface TurnInput {
  /** The schema of the requested structured output; null when none is requested. */
  readonly outputSchema: JsonObject | null;
  /** The agent's memo; null for none. */
  readonly memo: Json;
  /** What came with the latest message by the Responses API; null for nothing. */
  readonly turnRequest: TurnRequest | null;
}
