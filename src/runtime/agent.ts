import type { KindName } from "../core/actions/kind.ts";
import type { Clock } from "../core/clock.ts";
import type { ConnectedTask, UsableConnector } from "../core/connectors/use.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { PermissionLevel, PermissionUse, PermissionVerdict } from "../core/permissions/evaluate.ts";
import type { SkillContent } from "../core/skills/content.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import type { ProfileFetch } from "../core/tasks/fetch-policy.ts";
import type { HistoryUse } from "../core/tasks/history.ts";
import type { References } from "../core/tasks/message.ts";
import type { SubtaskState, Subtasks } from "../core/tasks/subtasks.ts";
import type { TextWriter } from "../core/tasks/text-writer.ts";
import type { NewTranscriptRow } from "../core/tasks/transcript.ts";
import type { Usage } from "../core/usage/price.ts";
import type { ReservedCredits } from "../core/usage/spend.ts";
import type { Publication } from "../core/websites/checkpoint.ts";
import type { TakenFile, Workspace } from "../core/workspaces/workspace.ts";
import type { Subtask, SubtaskRequest, TurnWait, WaitRequest, WaitResult } from "./agent-subtasks.ts";
import type { AttachedFile } from "./attached-file.ts";

/** A message of a task, from either side. */
export interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface EarlierMessage extends ChatMessage {
  /** The number of its event. */
  readonly seq: number;
  /** The files attached to it; absent without any. */
  readonly files?: readonly AttachedFile[];
}

/**
 * What happened in earlier turns: messages, uses of tools with their arguments and results, and decided
 * approvals. Long arguments and results are shortened (core/tasks/history.ts).
 */
export type Earlier = EarlierMessage | HistoryUse;

/** The messages among earlier entries, as text. */
export const messagesOf = (earlier: readonly Earlier[]): readonly ChatMessage[] =>
  earlier.flatMap((entry) => (entry.role === "tool" ? [] : [{ role: entry.role, content: entry.content }]));

/** The user's decision on an action for which the agent requested approval. */
export interface Decision {
  readonly kind: KindName;
  readonly accepted: boolean;
  /** The parameters of the request, as the user saw them; absent without parameters. */
  readonly params?: JsonObject;
  /**
   * Follows the kind's schema. A decision by an earlier `always_allow` or `global_allow` has only that
   * member.
   */
  readonly input: JsonObject;
}

/** A skill that the turn may use. Its content is read on request. */
export interface TurnSkill extends SkillContent {
  readonly id: string;
  readonly name: string;
  /** May be empty. */
  readonly description: string;
  /** True when this turn must invoke the skill and an event must show it (spec/api.md 9.10). */
  readonly forced: boolean;
}

/**
 * A file that an agent has made. Its bytes are read once, before its event is written, and not again when the
 * turn resumes.
 */
export interface NewFile {
  /** Follows the rules for uploads' names; the agent fails with a forbidden name. */
  readonly filename: string;
  /** Media type; derived from the name by default. */
  readonly contentType?: string;
  /** At most 512 MB. */
  readonly content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/**
 * A website that an agent saves. It becomes a checkpoint of the task's site; the first checkpoint creates the
 * site (spec/api.md 9.12).
 */
export interface NewSite<File = NewFile> {
  /** 1 to 255 characters; used only when the task has no site yet. */
  readonly title: string;
  /** Describes what changed. */
  readonly message: string;
  /** Publishes it too. Absent: its owner does. */
  readonly publish?: Publication;
  /** Files with their paths below the site's folder: at most 1,000, with 100 MB in total. */
  readonly files: readonly { path: string; file: File }[];
}

/**
 * An event of an agent. An answer may have files, which are kept as long as the task and which the event
 * links to. A use of a tool may begin a subtask or save a website.
 */
export type AgentEvent<File = NewFile> =
  | Exclude<NewEvent, Answer | Use>
  | (Answer & { readonly files?: readonly File[] })
  | (Use & { readonly subtask?: Subtask; readonly site?: NewSite<File> });
type Answer = Extract<NewEvent, { readonly type: "assistant_message" }>;
type Use = Extract<NewEvent, { readonly type: "tool_used" }>;

/**
 * What the store has for the rule of requests (docs/guides/models.md#fetch-policy). It is read when it is
 * needed, page by page.
 */
export interface FetchSources {
  /** What the owner of the space has set for the task's profile. */
  settings(): Promise<ProfileFetch>;
  /**
   * The texts of the user in the task, newest first, at most 1,000. The first message of a subtask is not
   * among them, because an agent wrote it; those of the first task of its tree are.
   */
  messages(): AsyncIterable<string>;
  /** The results of these tools in earlier turns, newest first, of the task's last 500 uses. */
  results(tools: readonly string[]): AsyncIterable<Json>;
}

export interface Person {
  /** Null when the person has given none. */
  readonly name: string | null;
  /** The IANA name of the time zone of the task's schedule, or else UTC. */
  readonly timeZone: string;
}

/** An event of the turn that is written. */
export type WrittenEvent = NewEvent & { readonly seq: number };

/**
 * The input of an agent for one turn. It is the same each time the turn resumes, except for decisions and a
 * memo that came with them.
 */
export interface Turn {
  readonly taskId: string;
  readonly title: string;
  /** The language to answer in, as a BCP 47 tag. */
  readonly locale: string;
  readonly profile: string;
  /** The turn's number: the last message that it answers, as the number of its event. */
  readonly number: number;
  /** The instructions of the project and of the turn; empty without one. */
  readonly instruction: string;
  /** The instruction of the project alone; empty without one. */
  readonly projectInstruction: string;
  /** The instruction of this turn alone; empty or absent without one. */
  readonly ownInstruction?: string;
  /** True when the agent may ask questions; otherwise it does its best without. */
  readonly interactive: boolean;
  /**
   * What happened in earlier turns, oldest first: at most the last 200 messages, and the last 200 uses of
   * tools.
   */
  readonly earlier: readonly Earlier[];
  /** The messages to answer, oldest first. */
  readonly messages: readonly string[];
  /** The files attached to those messages, and to those that `unread` has returned, in their order. */
  readonly attachments: readonly AttachedFile[];
  /**
   * The messages that the user has sent since the turn began, each once: those after the last call, up to one
   * that is for the next turn. Yield `readSeq` with what is made of them: then they begin no turn.
   */
  readonly unread: () => Promise<readonly EarlierMessage[]>;
  /** The task's files, which are kept from turn to turn. */
  readonly workspace: Workspace;
  /** The tasks that this one refers to. */
  readonly references: References;
  /** The available skills, forced ones first. */
  readonly skills: readonly TurnSkill[];
  /**
   * The memo that the agent stored with its last approval in this turn, or else with the question that this
   * turn answers; otherwise null.
   */
  readonly memo: Json;
  /** The decisions of this turn, in the order in which the agent requested them. */
  readonly decisions: readonly Decision[];
  /**
   * Decides a use of a tool by the rules in force now. Absent: there are none.
   *
   * @param more rules that the agent has besides those of the task.
   */
  readonly permit?: (use: PermissionUse, more?: readonly PermissionLevel[]) => Promise<PermissionVerdict>;
  /** The agent's events of this turn that are already written, oldest first. */
  readonly written: readonly WrittenEvent[];
  /** Reads what the agent may know of the task's owner. */
  readonly person: () => Promise<Person>;
  /** Reads the task's transcript. Only the agent of the turn writes it. */
  readonly transcript: () => Promise<readonly NewTranscriptRow[]>;
  /** The connectors that the task may use, as of the start of the run. */
  readonly connectors: readonly UsableConnector[];
  /** The task's owner. Each use of a connector looks it up again by this owner. */
  readonly owner: Pick<ConnectedTask, "accountId" | "spaceId" | "clientId">;
  /** What decides which addresses an agent may request. Absent: no address is free. */
  readonly sources?: FetchSources;
  /** The schema of the value that the agent must return when it finishes; null when no value is requested. */
  readonly outputSchema: JsonObject | null;
  /**
   * Reserves the highest possible cost of a call in every budget that applies. Reserve before the call.
   *
   * @throws Failure `resource_exhausted` when a budget has too little left: end the turn with `fail`,
   * errorType `quota_limit`.
   */
  readonly reserve: (atMost: Usage) => Promise<Hold>;
  /**
   * Prepares a subtask; it begins when its event is written. Absent in a subtask that is three deep.
   *
   * @param id the same each time the turn resumes, so that a repeated call begins no second one.
   * @throws Failure `resource_exhausted` while too many run, `invalid_argument` for a text that is not valid
   * in a user's message, and for a path that is not a file of the workspace.
   */
  readonly subtask?: (request: SubtaskRequest, id?: string) => Promise<Subtask>;
  /**
   * Reads the states of subtasks. `begun` has the newest ones, as of the start of the run. Present together
   * with `subtask`.
   */
  readonly subtasks?: Subtasks & {
    readonly begun: readonly SubtaskState[];
    /** Adds the files that a subtask has delivered to the workspace, under `subtasks/ID/`. */
    readonly take: (id: string) => Promise<readonly TakenFile[]>;
  };
  /** True for a subtask: files of its workspace may be from its parent. */
  readonly isSubtask?: boolean;
  /** The built-in tools that a subtask may use; null or absent: all. */
  readonly tools?: readonly string[] | null;
  /**
   * The waits of this turn that are over, in the order in which the agent requested them. Present together
   * with `subtask`.
   */
  readonly waits?: readonly TurnWait[];
  /**
   * Waits for subtasks: `const wait = await turn.waitFor({ mode: "all" }); if ("kind" in wait) return wait;`.
   * The first time it returns an outcome, with which the agent ends the run. The same turn continues when the
   * wait is over: then the same call returns its result. Present together with `subtask`.
   *
   * @param nth the place of the wait in `waits`; by default the calls of a run are counted.
   * @throws Failure `invalid_argument` for an id that is not a subtask of the task, and for values out of
   * bounds.
   */
  readonly waitFor?: (wait: WaitRequest, nth?: number) => Promise<WaitResult | WaitOutcome>;
  /**
   * Shows the text of a message while the agent writes it. The event has all of it. Absent where nothing can
   * watch.
   */
  readonly live?: LiveMessage;
  /** 1 for the first run of this turn, more when an earlier one was lost or the turn has waited. */
  readonly claim: number;
  readonly clock: Clock;
  /**
   * Aborted when this process loses the run: by a stop, with the reason `stopped`, a drain or a lost lease.
   */
  readonly signal: AbortSignal;
}

/** The reason of a turn's signal when the task was stopped. */
export const stopped = "stopped";

/**
 * The text of the message that an agent writes now, for watchers: begin it, write its parts, and yield its
 * event. To begin it again drops what was written.
 */
export type LiveMessage = Pick<TextWriter, "begin" | "write">;

export type { AttachedFile, Usage };

/** Credits that are reserved for one call, of a model or a tool. */
export type Hold = ReservedCredits;

/** Events that are written in one transaction, with their cost. */
export interface Progress<File = NewFile> {
  /** At least one event, unless this adds rows, or reports usage that belongs to no event. */
  readonly events: readonly AgentEvent<File>[];
  /** Rows of the transcript, which are written with the events. */
  readonly rows?: readonly NewTranscriptRow[];
  /** Data that neither the user nor the agent wrote is in the rows: it marks the task. */
  readonly untrusted?: true;
  /** The user's messages up to this event are read (`Turn.unread`). Only with `isAwaited`. */
  readonly readSeq?: number;
  /** The agent continues when this is committed. Otherwise it continues at once. */
  readonly isAwaited?: true;
  /** A non-negative integer. The cost of `usage` is added to it. */
  readonly credits?: number;
  /** Priced by the profile's table (docs/operate/budgets.md). */
  readonly usage?: Usage;
  /** Holds that end with this write. The real usage is in `usage`. */
  readonly settles?: readonly Hold[];
}

/**
 * The agent waits for subtasks. The task keeps running, without a process. The same turn continues when the
 * wait is over, or when the user has sent a message: the generator runs again, with one more entry in
 * `waits`.
 */
export interface WaitOutcome extends WaitRequest {
  readonly kind: "wait";
  /** The agent's state for the run that continues; absent: the turn keeps the memo that it has. */
  readonly memo?: Json;
}

/** A request for the approval of an action. */
export type Confirm = Extract<Outcome, { readonly kind: "confirm" }>;

interface LastRows {
  /** Rows of the transcript, which are written with the end of the turn. */
  readonly rows?: readonly NewTranscriptRow[];
}

/** The end of a turn. */
export type Outcome<File = NewFile> =
  /** `output` is the value that `outputSchema` describes. Without a value the extraction counts as failed. */
  | ({
      readonly kind: "finish";
      readonly content: string;
      readonly output?: Json;
      readonly files?: readonly File[];
    } & LastRows)
  | ({ readonly kind: "fail"; readonly errorType: string; readonly content: string } & LastRows)
  /** The next message is the answer. The turn that it begins receives the `memo`. */
  | ({
      readonly kind: "ask";
      readonly content: string;
      /** Offered answers. */
      readonly options: readonly string[];
      readonly memo: Json;
    } & LastRows)
  /** The same turn continues after the decision: the generator runs again, with one more decision. */
  | {
      readonly kind: "confirm";
      readonly action: KindName;
      /** The tool that waits; absent: that of the kind. */
      readonly tool?: string;
      /** The agent has looked up the permissions: a person decides it. */
      readonly isChecked?: true;
      /** Selects the schema of a kind that has several. */
      readonly variant: string;
      /** The request as readable text; the kind's default text if absent. */
      readonly description?: string;
      /** The tool's arguments, for example `messages` of a mail. */
      readonly params?: JsonObject;
      /**
       * Kept for the runs that have the decision; absent: the turn keeps the memo that it has. A message
       * instead of a decision drops it.
       */
      readonly memo?: Json;
    }
  | WaitOutcome
  /** Ends the run as if this process had died: nothing is written, and a sweep finds the task. */
  | { readonly kind: "abandon" };

/**
 * An agent answers a turn with a generator. Each yield is a group of events that is written in one
 * transaction; the return value is the outcome. After a lost run or a decision the generator runs again from
 * its start, and the events that the turn already has are skipped. So an agent must yield the same events for
 * the same turn.
 */
export type Agent<File = NewFile> = ((turn: Turn) => AsyncGenerator<Progress<File>, Outcome<File>, void>) & {
  /** It reserves the credits of each call, so its runs hold no step of their budgets. */
  readonly reserves?: true;
};
