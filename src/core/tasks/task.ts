import type { KindName } from "../actions/kind.ts";
import type { Scope } from "../caller.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Visibility } from "../visibility.ts";
import type { NewEvent } from "./event.ts";

export type TaskStatus = "running" | "stopped" | "waiting" | "error";
export type TaskType = "standard" | "project" | "agent_subtask";

/** A unit of an agent's work, with everything that decides who may see it and who runs it. */
export interface Task {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The app that made it; null for a key. */
  readonly clientId: string | null;
  readonly apiKeyId: string | null;
  readonly projectId: string | null;
  /** The agent whose main task or, by the type, subtask it is. */
  readonly agentId: string | null;
  readonly type: TaskType;
  readonly title: string;
  readonly status: TaskStatus;
  /** Whom it reaches now: what was set, within the team's cap (contract/enterprise.md 9.1). */
  readonly shareVisibility: Visibility;
  /** Kept out of the web app's list. */
  readonly hidden: boolean;
  /** The profile asked for, spelled `manus-1.6…`; that of the latest turn. */
  readonly agentProfile: string;
  readonly locale: string;
  readonly interactive: boolean;
  /** The 20 most recently referenced tasks (contract/v2.md 9.8). */
  readonly references: readonly string[];
  readonly credits: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastMessageAt: number;
  /** The number of the newest event. */
  readonly lastSeq: number;
  /** The time of the newest event, Unix ms. */
  readonly lastTimestamp: number;
  /** The number of the newest user_message. */
  readonly messageSeq: number;
  /** Messages up to here were dealt with in earlier turns. */
  readonly answeredSeq: number;
  /** The turn's messages end here: what the agent adds in this turn has a greater number. */
  readonly consumedSeq: number;
  /** Raised whenever the right to write as the runner changes hands. */
  readonly fence: number;
  /** The process that runs it; null while nobody does. */
  readonly nodeId: string | null;
  /** The only process that may run it while that lives: the one that holds its browser. Null: any. */
  readonly wantsNode: string | null;
  /** How often this turn was claimed. */
  readonly claims: number;
  /** Claims in a row that added no event. */
  readonly idleClaims: number;
  /** Since when it waits for a runner, Unix ms. */
  readonly queuedAt: number;
  /** When a runner last took it, Unix ms; 0 before the first time. */
  readonly servedAt: number;
  /** A schema is armed: the next finish tells a value that fits it (contract/v2.md 9.5). */
  readonly armed: boolean;
  /** The agent has left something to itself for the present turn. */
  readonly recalls: boolean;
  /** What needs no approval in this task any more (contract/decisions.md 15). */
  readonly allowed: readonly KindName[];
}

/** A task as lists and `task.detail` show it: with its key's present name. */
export interface TaskView extends Task {
  readonly apiKeyName: string | null;
}

/** What may be changed; the counters of events are `advance`'s own. */
export type TaskChanges = Partial<
  Pick<
    Task,
    | "title"
    | "status"
    | "shareVisibility"
    | "hidden"
    | "agentProfile"
    | "references"
    | "nodeId"
    | "wantsNode"
    | "queuedAt"
    | "servedAt"
    | "claims"
    | "idleClaims"
    | "allowed"
  >
> & {
  /** The most that the team allows its visibility to be. */
  readonly maxVisibility?: Visibility;
  /** Raises the fence by one: whoever ran the task may write no more. */
  readonly raiseFence?: true;
  /** Sets `wantsNode` to the process that holds the task's browser, null where it has none that is online. */
  readonly toBrowser?: true;
  /** Counts one more claim of the turn. */
  readonly addClaim?: true;
  /** Begins a turn with every message so far: answeredSeq = the old consumedSeq, consumedSeq = the new lastSeq, claims = 1, idleClaims = 0. */
  readonly beginTurn?: true;
  /** Arms a schema, in place of one that is armed; null disarms. */
  readonly outputSchema?: JsonObject | null;
  /** What the agent leaves to itself for the turn after its question; null forgets it. */
  readonly memo?: Json;
  /** Adds to what the task has cost. */
  readonly addCredits?: number;
  /** One of the events is a user_message, the first: messageSeq becomes its number. */
  readonly addsMessage?: true;
};

/** A guarded step of a task's life. */
export interface Advance {
  readonly now: number;
  /** Nothing happens unless all of it holds. */
  readonly when?: {
    readonly fence?: number;
    readonly nodeId?: string | null;
    readonly status?: TaskStatus /** The turn has seen every user_message: messageSeq <= consumedSeq. */;
    readonly consumed?: true;
  };
  readonly set?: TaskChanges;
  readonly events?: readonly NewEvent[];
}

/** What an agent is given for a turn beside the messages. */
export interface Briefing {
  /** The armed schema; null when none is. */
  readonly outputSchema: JsonObject | null;
  /** What the agent left to itself; null for nothing. */
  readonly memo: Json;
}

/** Which of a caller's tasks a list shows (contract/v2.md 8.3). */
export interface TaskFilter {
  /** `standard` leaves agents' main tasks out. */
  readonly type?: TaskType;
  readonly projectId?: string;
  /** Of this agent; `agent-default` is one too. */
  readonly agentId?: string;
}

/** A keyset page: ordered by creation time, then id. */
export interface TaskPage {
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string };
}

/** A task that may be claimed, as far as a claim depends on it. */
export type Claimable = Pick<Task, "id" | "fence" | "nodeId" | "claims">;

/** Which of the tasks that wait a runner is there for. */
export interface QueueFilter {
  /** Of this space only. */
  readonly spaceId?: string;
  /** Of these profiles only. */
  readonly profiles?: readonly string[];
  /** Of all profiles but these. */
  readonly otherThan?: readonly string[];
  /** For this process: not those that only another, which lives, may run. */
  readonly nodeId?: string;
}

/** Subtasks of an agent, counted. */
export interface SubtaskCount {
  readonly running: number;
  /** Begun since the present turn of its main task began, whatever became of them. */
  readonly ofTurn: number;
}

export interface TaskRows {
  insert(task: Task, events: readonly NewEvent[]): Promise<Task>;
  /** What this caller sees under an id, or under `agent-default-main_task`; deleted tasks excepted. */
  find(scope: Scope, id: string): Promise<TaskView | null>;
  /** As `find`, and nobody else changes the row before this change ends. */
  lock(scope: Scope, id: string): Promise<TaskView | null>;
  /** How many of these, each named once, the caller sees. */
  countVisible(scope: Scope, ids: readonly string[]): Promise<number>;
  /** An agent's main task is listed from its first event on. */
  list(scope: Scope, filter: TaskFilter, page: TaskPage): Promise<readonly TaskView[]>;
  /** The row itself, for the runtime. */
  byId(id: string): Promise<Task | null>;
  /** What a turn is given beside the messages; it is not part of the row's view, because it may be large. */
  briefing(id: string): Promise<Briefing>;
  /**
   * The one way a task changes: row lock, guard, numbers of the new events and the
   * events themselves. Event times are max(now, last) + 1, + 2, …. Null when the
   * guard did not hold; then nothing was written.
   */
  advance(id: string, step: Advance): Promise<Task | null>;
  /**
   * Running tasks that nobody runs: of the account with the fewest that run first, of
   * equal ones of that whose turn is longest ago, and of one account the oldest first.
   */
  unowned(max: number, filter?: QueueFilter): Promise<readonly Claimable[]>;
  /** An account's running tasks in a space, whoever runs them, by their ids. */
  runningOf(scope: Pick<Scope, "accountId" | "spaceId">): Promise<readonly string[]>;
  /** How many subtasks an agent has, with those of these ids that are not made yet. */
  countSubtasks(main: Pick<Task, "id" | "consumedSeq"> & { readonly agentId: string }, begun: readonly string[]): Promise<SubtaskCount>;
  /** Running tasks that name one of these nodes. */
  owned(nodeIds: readonly string[]): Promise<readonly Claimable[]>;
  /** Running tasks that nobody runs yet, counted up to `max`: the queue's depth. */
  countUnowned(max: number): Promise<number>;
  /** Makes the row a tombstone (contract/decisions.md 14): in a personal space only id and times stay. */
  bury(id: string, now: number, personal: boolean): Promise<void>;
}
