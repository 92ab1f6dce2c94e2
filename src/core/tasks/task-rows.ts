import type { Scope } from "../accounts/caller.ts";
import type { NewEvent } from "./event.ts";
import type { Metadata } from "./metadata.ts";
import type { SearchWord } from "./search-tokens.ts";
import type {
  Advance,
  SharedTask,
  Task,
  TaskStatus,
  TaskType,
  TaskView,
  TaskWritten,
  TurnInput,
} from "./task.ts";
import type { TaskPage, TaskPosition } from "./task-page.ts";

/** A filter of a caller's task list (spec/api.md 8.3). */
export interface TaskFilter {
  /**
   * `team`: the tasks of the space that its team sees, of all accounts. Absent: those that the scope sees.
   */
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
  /**
   * False when only the newest tasks were examined. `running` and `waiting` are counted of any age, but in
   * the view of a team.
   */
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
  /**
   * Those in any state. Below an agent's main task, which never ends: started since its current turn began.
   */
  readonly inAll: number;
}

/** A subtask as the wait of its parent sees it. */
export type SubtaskEnd = Pick<Task, "id" | "title" | "status" | "lastSeq">;

export interface TaskRows {
  /**
   * @param isSubscribed `webhookEvents.isSubscribed`, where the change has asked before; undefined: the
   * insert asks.
   */
  insert(task: Task, events: readonly NewEvent[], isSubscribed?: boolean): Promise<TaskWritten>;
  /** The task that this caller sees under an id, or under `agent-default-main_task`; never a deleted one. */
  find(scope: Scope, id: string): Promise<TaskView | null>;
  /**
   * The task that is shared, within its team's cap, with all visitors, or with the members of this team;
   * never a deleted one. @param teamSpaceId the space of the visitor's team; null without one.
   */
  findShared(teamSpaceId: string | null, id: string): Promise<SharedTask | null>;
  /** As `find`, and locks the row until the transaction ends. */
  lock(scope: Scope, id: string): Promise<TaskView | null>;
  /** How many of these distinct ids the caller sees. */
  countVisible(scope: Scope, ids: readonly string[]): Promise<number>;
  /** An agent's main task is listed once it has an event. Reads at most 5,000 tasks for any filter. */
  list(scope: Scope, filter: TaskFilter, page: TaskPage): Promise<TaskList>;
  /**
   * Counts the tasks of all pages of `list` by state, without regard to the states of the filter. Reads at
   * most 15,000 tasks.
   */
  countByStatus(scope: Scope, filter: TaskFilter): Promise<TaskCounts>;
  /**
   * The tasks of an account and its tombstones that changed at this time (Unix ms) or later, oldest change
   * first; at most `max`.
   */
  listChanged(
    scope: Pick<Scope, "accountId" | "spaceId" | "within">,
    since: number,
    max: number,
  ): Promise<readonly ChangedTask[]>;
  /**
   * The same for the tasks that the team of a space sees, and for those that it no longer sees since this
   * time; at most twice `max`.
   */
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
  /**
   * The input of a turn in addition to the messages. It is not part of the row's view, because it may be
   * large.
   */
  turnInput(id: string): Promise<TurnInput>;
  /**
   * The only way to change a task: locks the row, checks the conditions, and numbers and writes the new
   * events. Event times are max(now, last) + 1, + 2, …. Null when a condition did not hold; then nothing was
   * written.
   */
  advance(id: string, step: Advance): Promise<TaskWritten | null>;
  /**
   * Running tasks without a runner, except those whose profile has as many runs in the space as it may have.
   * Order: accounts with the fewest tasks in run first, of equal accounts the one served longest ago, within
   * an account the oldest task first.
   */
  listUnowned(max: number, filter?: QueueFilter): Promise<readonly ClaimableTask[]>;
  /**
   * Whether this process may claim a task without the queue: no other task of the filter waits, the space
   * does not limit the profile, and the process has its row.
   */
  canSkipQueue(
    task: Pick<Task, "id" | "spaceId" | "agentProfile">,
    filter: QueueFilter & { nodeId: string },
  ): Promise<boolean>;
  /**
   * The ids of an account's running tasks in a space, with or without a runner; tasks before their subtasks.
   */
  listRunning(scope: Pick<Scope, "accountId" | "spaceId">): Promise<readonly string[]>;
  /** The number of subtasks below a root, including those of the given ids that are not created yet. */
  countSubtasks(
    root: Pick<Task, "id" | "consumedSeq" | "agentId">,
    begun: readonly string[],
  ): Promise<SubtaskCount>;
  /** The ids that are subtasks of the task. */
  listSubtasks(parentId: string, ids: readonly string[]): Promise<readonly SubtaskEnd[]>;
  /**
   * The ids of subtasks of the task that run or wait and that turns up to this one have started, the oldest
   * first.
   */
  listLiving(parentId: string, turn: number, max: number): Promise<readonly string[]>;
  /** The ids of subtasks of the task that run or wait, or that this turn has started, the oldest first. */
  listOfTurn(parentId: string, turn: number, max: number): Promise<readonly string[]>;
  /**
   * Claims the tasks that have not changed since they were read, for a runner (`nodeId`): fence + 1, and the
   * turn begins or continues. Leaves out tasks that another process is changing.
   */
  claim(candidates: readonly ClaimableTask[], nodeId: string, now: number): Promise<readonly Task[]>;
  /**
   * Claims the first tasks in the order of `listUnowned`, in one statement that waits for no other process.
   * Null, and nothing is claimed, on SQLite and while a space limits the runs of a profile: then the queue is
   * read, and `claim` follows.
   */
  claimQueued(from: QueuePart, nodeId: string, now: number): Promise<readonly Task[] | null>;
  /** Running tasks that name one of these nodes. */
  listOwned(nodeIds: readonly string[]): Promise<readonly ClaimableTask[]>;
  /** Running tasks whose turn has exceeded its time limit. */
  listOverdue(now: number, max: number): Promise<readonly ClaimableTask[]>;
  /** The queue's depth: running tasks without a runner, counted up to `max`. */
  countUnowned(max: number, filter?: QueueFilter): Promise<number>;
  /**
   * The place of a waiting task among those of its account, space and profile, from 1 for the oldest to
   * `max`.
   */
  queuePosition(
    task: Pick<Task, "id" | "accountId" | "spaceId" | "agentProfile" | "queuedAt">,
    max: number,
  ): Promise<number>;
  /**
   * Appends events with their own times to a task that this change has locked, as history: nothing is
   * notified, and no message waits for a turn. Its `updatedAt` stays.
   */
  appendImported(
    task: Pick<Task, "id" | "lastSeq">,
    events: readonly (NewEvent & { timestamp: number })[],
  ): Promise<void>;
  /** Counts an imported subtask at its parent, whose `updatedAt` stays. */
  addImportedSubtask(id: string): Promise<void>;
  /** Makes the row a tombstone (spec/decisions.md 14): in a personal space only the id and times remain. */
  tombstone(id: string, now: number, personal: boolean): Promise<void>;
}
