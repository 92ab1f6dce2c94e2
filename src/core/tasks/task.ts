import type { Scope } from "../accounts/caller.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Visibility } from "../visibility.ts";
import type { NewEvent, WaitDetail } from "./event.ts";
import type { Metadata } from "./metadata.ts";
import type { SearchWord } from "./search-tokens.ts";
import type { TaskPage, TaskPosition } from "./task-page.ts";
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
  readonly messageSeq: number;
  /** Messages up to this number were handled in earlier turns. */
  readonly answeredSeq: number;
  /** The last message of the turn: events that the agent adds in this turn have greater numbers. */
  readonly consumedSeq: number;
  /** Raised whenever another runner receives the right to write. */
  readonly fence: number;
  /** The process that runs it; null when none does. */
  readonly nodeId: string | null;
  /** The only process that may run it while that process is alive: it has the task's browser. Null: any process. */
  readonly wantsNode: string | null;
  /** The number of claims of this turn. */
  readonly claims: number;
  /** Consecutive claims that added no event. */
  readonly idleClaims: number;
  /** Since when it has waited for a runner, Unix ms. */
  readonly queuedAt: number;
  /** When a runner last claimed it, Unix ms; 0 before the first claim. */
  readonly servedAt: number;
  /** A structured output was requested: the next finish reports a value that conforms to it (spec/api.md 9.5). */
  readonly armed: boolean;
  /** The agent has left a memo for the current turn, or the latest message came with a `TurnRequest`. */
  readonly recalls: boolean;
  /** The actions that need no further approval in this task, as `allowance` names them (spec/decisions.md 15). */
  readonly allowed: readonly string[];
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
  /** The trace of the call that began its latest turn, as `traceparent` (W3C Trace Context); null without one. */
  readonly traceparent: string | null;
}

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
  /** The description of `detail` shows the whole action (`isWhole`); absent for all others, and for waits of before 0.2.0. */
  readonly isWhole?: true;
  /** The user's stop ended the turn. */
  readonly byUser?: true;
}

/** The state that a task shows in lists, in addition to its status. Members are null before the first event of their type. */
export interface TaskProgress {
  readonly latestStatus: LatestStatus | null;
  readonly statusSeq: number | null;
  /** The steps of the latest plan that are done, and all of its steps. */
  readonly planDone: number | null;
  readonly planTotal: number | null;
}

/** A task as lists and `task.detail` return it: with its progress, and the current names of its creators. */
export interface TaskView extends Task, TaskProgress {
  /** When it last began to wait for its user, Unix ms; 0 for never, and for a wait that began in a release before 0.2.0. */
  readonly waitingSince: number;
  readonly apiKeyName: string | null;
  /** Null without a name. */
  readonly accountName: string | null;
  readonly appName: string | null;
  /** While it waits for a runner: when a worker of its space and profile last called, Unix ms. Otherwise null. */
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
    | "wantsNode"
    | "queuedAt"
    | "claims"
    | "idleClaims"
    | "allowed"
    | "traceparent"
  >
> & {
  /** The team's cap on its visibility. */
  readonly maxVisibility?: Visibility;
  /** Raises the fence by one: the previous runner may write no more. */
  readonly raiseFence?: true;
  /** Sets `wantsNode` to the process that has the task's browser, or null when no browser is online. */
  readonly toBrowser?: true;
  /** Begins a turn with every message so far: answeredSeq = the old consumedSeq, consumedSeq = the new lastSeq, claims = 1, idleClaims = 0. */
  readonly beginTurn?: true;
  /** Ends the time limit of the turn. */
  readonly turnUntil?: null;
  /** Requests a structured output instead of an earlier one; null removes the request. */
  readonly outputSchema?: JsonObject | null;
  /** The agent's memo for the turn after its question, or for the run that has a decision; null deletes it. */
  readonly memo?: Json;
  /** What came with the latest message by the Responses API; null for nothing. */
  readonly turnRequest?: TurnRequest | null;
  readonly addCredits?: number;
  readonly addSubtasks?: number;
  /** One of the events is a user_message, the first: messageSeq becomes its number. */
  readonly addsMessage?: true;
};

/** A conditional change of a task. */
export interface Advance {
  readonly now: number;
  /** Nothing is written unless all conditions hold. */
  readonly when?: {
    readonly fence?: number;
    readonly nodeId?: string | null;
    readonly status?: TaskStatus /** The turn has seen every user_message: messageSeq <= consumedSeq. */;
    readonly consumed?: true;
  };
  readonly set?: TaskChanges;
  readonly events?: readonly NewEvent[];
}

/** A task that a change has just created or updated. `PublishTask` must have it in the same change if it has events or another status. */
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

/** A filter of a caller's task list (spec/api.md 8.3). */
export interface TaskFilter {
  /** `team`: the tasks of the space that its team sees, of all accounts. Absent: those that the scope sees. */
  readonly view?: "team";
  /** With the view `team`: only tasks of this account. */
  readonly creatorId?: string;
  /** `standard` omits agents' main tasks. */
  readonly type?: TaskType;
  readonly projectId?: string;
  /** An agent's id; `agent-default` is accepted. */
  readonly agentId?: string;
  /** The task whose agent started them. */
  readonly parentId?: string;
  /** The client id of the app that created them. */
  readonly createdByApp?: string;
  readonly status?: TaskStatus;
  /** Only tasks in one of these states; empty: in any. */
  readonly statuses?: readonly TaskStatus[];
  /** Unix ms, exclusive. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly updatedAfter?: number;
  readonly updatedBefore?: number;
  /** Only tasks with all of these pairs. */
  readonly metadata?: Metadata;
  /** Only tasks with all of these words in their title or messages; no task has an empty list. */
  readonly words?: readonly SearchWord[];
}

/** Numbers of tasks by state. */
export interface TaskCounts {
  readonly byStatus: Readonly<Record<TaskStatus, number>>;
  /** False when only the newest tasks were examined. `running` and `waiting` are counted of any age, but in the view of a team. */
  readonly isComplete: boolean;
}

/** A task that has changed, or was deleted. */
export interface ChangedTask {
  readonly id: string;
  /** A text that differs after each change that lists show. */
  readonly version: string;
}

/** A page of tasks. It may have fewer than `limit` tasks although another page follows. */
export interface TaskList {
  readonly tasks: readonly TaskView[];
  /** Where the next page begins; absent on the last page. */
  readonly next?: TaskPosition;
}

export type ClaimableTask = Pick<Task, "id" | "fence" | "nodeId" | "claims" | "spaceId" | "agentProfile"> & {
  /** The space limits the runs of the profile: a claim counts them first. */
  readonly isLimited?: boolean;
};

/** The waiting tasks that a runner accepts. */
export interface QueueFilter {
  /** Only of this space. */
  readonly spaceId?: string;
  /** Only of these profiles. */
  readonly profiles?: readonly string[];
  /** Of all profiles except these. */
  readonly excludedProfiles?: readonly string[];
  /** For this process: omits tasks that only another live process may run. */
  readonly nodeId?: string;
}

export interface QueuePart {
  /** 1 to 32. */
  readonly max: number;
  readonly filter: QueueFilter;
  /** The ids of tasks that stay in the queue. */
  readonly except: readonly string[];
}

/** The number of subtasks below a root. */
export interface SubtaskCount {
  /** Those that run or wait. */
  readonly living: number;
  /** Those in any state. Below an agent's main task, which never ends: started since its current turn began. */
  readonly inAll: number;
}

/** A subtask as the wait of its parent sees it. */
export type SubtaskEnd = Pick<Task, "id" | "title" | "status" | "lastSeq">;

export interface TaskRows {
  /** @param isSubscribed `webhookEvents.isSubscribed`, where the change has asked before; undefined: the insert asks. */
  insert(task: Task, events: readonly NewEvent[], isSubscribed?: boolean): Promise<TaskWritten>;
  /** The task that this caller sees under an id, or under `agent-default-main_task`; never a deleted one. */
  find(scope: Scope, id: string): Promise<TaskView | null>;
  /**
   * The task that is shared, within its team's cap, with all visitors, or with the members of this team; never a
   * deleted one. @param teamSpaceId the space of the visitor's team; null without one.
   */
  findShared(teamSpaceId: string | null, id: string): Promise<SharedTask | null>;
  /** As `find`, and locks the row until the transaction ends. */
  lock(scope: Scope, id: string): Promise<TaskView | null>;
  /** How many of these distinct ids the caller sees. */
  countVisible(scope: Scope, ids: readonly string[]): Promise<number>;
  /** An agent's main task is listed once it has an event. Reads at most 5,000 tasks for any filter. */
  list(scope: Scope, filter: TaskFilter, page: TaskPage): Promise<TaskList>;
  /** Counts the tasks of all pages of `list` by state, without regard to the states of the filter. Reads at most 15,000 tasks. */
  countByStatus(scope: Scope, filter: TaskFilter): Promise<TaskCounts>;
  /** The tasks of an account and its tombstones that changed at this time (Unix ms) or later, oldest change first; at most `max`. */
  listChanged(scope: Pick<Scope, "accountId" | "spaceId" | "within">, since: number, max: number): Promise<readonly ChangedTask[]>;
  /** The same for the tasks that the team of a space sees, and for those that it no longer sees since this time; at most twice `max`. */
  listChangedInTeam(spaceId: string, since: number, max: number): Promise<readonly ChangedTask[]>;
  /** The tasks in `ids`, at most 100, that match `list`. */
  listOf(scope: Scope, filter: TaskFilter, ids: readonly string[]): Promise<readonly TaskView[]>;
  /** Whether every text that this caller sees in the filter's view is in the search index. */
  isIndexed(scope: Scope, filter: Pick<TaskFilter, "view" | "creatorId">): Promise<boolean>;
  /** The ids of at most `max` tasks with texts that are not in the search index yet. */
  listNotIndexed(max: number): Promise<readonly string[]>;
  /** Adds the next texts of these tasks to the search index. A task with many texts needs several calls. */
  indexTexts(ids: readonly string[]): Promise<void>;
  /** The row itself, for the runtime. */
  byId(id: string): Promise<Task | null>;
  /** The input of a turn in addition to the messages. It is not part of the row's view, because it may be large. */
  turnInput(id: string): Promise<TurnInput>;
  /**
   * The only way to change a task: locks the row, checks the conditions, and numbers and writes the new events. Event times are
   * max(now, last) + 1, + 2, …. Null when a condition did not hold; then nothing was written.
   */
  advance(id: string, step: Advance): Promise<TaskWritten | null>;
  /**
   * Running tasks without a runner, except those whose profile has as many runs in the space as it may have. Order: accounts with the fewest tasks in run first, of
   * equal accounts the one served longest ago, within an account the oldest task first.
   */
  listUnowned(max: number, filter?: QueueFilter): Promise<readonly ClaimableTask[]>;
  /**
   * Whether this process may claim a task without the queue: no other task of the filter waits, the space does not limit the profile,
   * and the process has its row.
   */
  canSkipQueue(task: Pick<Task, "id" | "spaceId" | "agentProfile">, filter: QueueFilter & { readonly nodeId: string }): Promise<boolean>;
  /** The ids of an account's running tasks in a space, with or without a runner; tasks before their subtasks. */
  listRunning(scope: Pick<Scope, "accountId" | "spaceId">): Promise<readonly string[]>;
  /** The number of subtasks below a root, including those of the given ids that are not created yet. */
  countSubtasks(root: Pick<Task, "id" | "consumedSeq" | "agentId">, begun: readonly string[]): Promise<SubtaskCount>;
  /** The ids that are subtasks of the task. */
  listSubtasks(parentId: string, ids: readonly string[]): Promise<readonly SubtaskEnd[]>;
  /** The ids of subtasks of the task that run or wait and that turns up to this one have started, the oldest first. */
  listLiving(parentId: string, turn: number, max: number): Promise<readonly string[]>;
  /** The ids of subtasks of the task that run or wait, or that this turn has started, the oldest first. */
  listOfTurn(parentId: string, turn: number, max: number): Promise<readonly string[]>;
  /**
   * Claims the tasks that have not changed since they were read, for a runner (`nodeId`): fence + 1, and the turn begins or
   * continues. Leaves out tasks that another process is changing.
   */
  claim(candidates: readonly ClaimableTask[], nodeId: string, now: number): Promise<readonly Task[]>;
  /**
   * Claims the first tasks in the order of `listUnowned`, in one statement that waits for no other process. Null, and nothing is claimed,
   * on SQLite and while a space limits the runs of a profile: then the queue is read, and `claim` follows.
   */
  claimQueued(from: QueuePart, nodeId: string, now: number): Promise<readonly Task[] | null>;
  /** Running tasks that name one of these nodes. */
  listOwned(nodeIds: readonly string[]): Promise<readonly ClaimableTask[]>;
  /** Running tasks whose turn has exceeded its time limit. */
  listOverdue(now: number, max: number): Promise<readonly ClaimableTask[]>;
  /** The queue's depth: running tasks without a runner, counted up to `max`. */
  countUnowned(max: number, filter?: QueueFilter): Promise<number>;
  /** The place of a waiting task among those of its account, space and profile, from 1 for the oldest to `max`. */
  queuePosition(task: Pick<Task, "id" | "accountId" | "spaceId" | "agentProfile" | "queuedAt">, max: number): Promise<number>;
  /**
   * Appends events with their own times to a task that this change has locked, as history: nothing is notified, and no message
   * waits for a turn. Its `updatedAt` stays.
   */
  appendImported(task: Pick<Task, "id" | "lastSeq">, events: readonly (NewEvent & { readonly timestamp: number })[]): Promise<void>;
  /** Counts an imported subtask at its parent, whose `updatedAt` stays. */
  addImportedSubtask(id: string): Promise<void>;
  /** Makes the row a tombstone (spec/decisions.md 14): in a personal space only the id and times remain. */
  tombstone(id: string, now: number, personal: boolean): Promise<void>;
}
