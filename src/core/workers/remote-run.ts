import type { OpenCall, WorkerCredential } from "../accounts/caller.ts";
import type { KindName } from "../actions/kind.ts";
import type { ToolAnswer } from "../connectors/server.ts";
import type { UsableConnector } from "../connectors/use.ts";
import type { FileName } from "../files/staging.ts";
import type { Json, JsonObject } from "../json.ts";
import type { EventPayloads, NewEvent, TaskEvent } from "../tasks/event.ts";
import type { HistoryEntry } from "../tasks/history.ts";
import type { LiveType } from "../tasks/live-text.ts";
import type { EndedWait, WaitMode } from "../tasks/subtask-wait.ts";
import type { SubtaskResult, SubtaskState } from "../tasks/subtasks.ts";
import type { Usage } from "../usage/price.ts";

/** A turn of a task in the form that a remote worker receives. */
export interface RemoteRun {
  readonly taskId: string;
  readonly fence: number;
  readonly leaseMs: number;
  readonly claim: number;
  readonly title: string;
  readonly locale: string;
  readonly profile: string;
  readonly instruction: string;
  readonly interactive: boolean;
  readonly history: readonly HistoryEntry[];
  readonly asked: readonly EventPayloads["user_message"][];
  /** The events of the turn so far, with the keys of those that workers wrote. */
  readonly written: readonly WrittenEvent[];
  readonly decisions: readonly { kind: KindName; accepted: boolean; input: JsonObject }[];
  readonly outputSchema: JsonObject | null;
  readonly memo: Json;
  readonly references: readonly string[];
  /** Forced skills first. */
  readonly skills: readonly { id: string; name: string; description: string; forced: boolean }[];
  /** The connectors that the task may use, with their tools. */
  readonly connectors: readonly UsableConnector[];
  /** The states of its subtasks; null when the task may not begin any. */
  readonly subtasks: readonly SubtaskState[] | null;
  /** The waits for subtasks of this turn that are over. */
  readonly waits: readonly RemoteWait[];
  /** The trace of the turn; null without one. */
  readonly traceparent: string | null;
}

/** A wait for subtasks that is over. Only the last one of a run has messages, outputs and files. */
export interface RemoteWait extends Pick<EndedWait, "mode" | "reason"> {
  readonly subtasks: readonly SubtaskResult[];
}

export interface WrittenEvent {
  readonly event: TaskEvent;
  /** Empty when no worker wrote it. */
  readonly key: string;
}

export interface SentEvent {
  readonly key: string;
  /** SHA-256 of the sent content. */
  readonly digest: string;
  readonly event: NewEvent;
  /** Files to attach to it. */
  readonly uploadIds: readonly string[];
  /** The website that the run has built. */
  readonly site?: SentSite;
  /** A subtask that begins with it. */
  readonly subtask?: { id: string; message: string };
}

/** A website sent by a worker: `uploadId` is a ZIP of its files. */
export interface SentSite {
  /** The field that it came in, for error texts. */
  readonly at: string;
  readonly title: string;
  readonly message: string;
  readonly uploadId: string;
}

export interface SubtaskInput {
  /** An idempotency key, as for an event. */
  readonly key: string;
  /** SHA-256 of the sent content. */
  readonly digest: string;
  readonly message: string;
}

export interface StartedSubtask {
  readonly id: string;
  /** The number of the event that reports it. */
  readonly seq: number;
}

export interface ReportedUsage {
  readonly credits: number;
  readonly usage: Usage | null;
}

/** The outcome by which a worker ends a turn. */
export type SentOutcome =
  | {
      readonly kind: "finish";
      readonly content: string;
      readonly uploadIds: readonly string[];
      readonly output?: Json;
    }
  | { readonly kind: "fail"; readonly errorType: string; readonly content: string }
  | {
      readonly kind: "ask";
      readonly content: string;
      readonly options: readonly string[];
      readonly memo: Json;
    }
  | {
      readonly kind: "confirm";
      readonly action: KindName;
      readonly variant: string;
      readonly description?: string;
      readonly params?: JsonObject;
      /** Absent: the turn keeps the memo that it has. */
      readonly memo?: Json;
    }
  | {
      readonly kind: "wait";
      /** Absent: those that have not ended, and those of this turn that have ended since the last wait. */
      readonly subtasks?: readonly string[];
      readonly mode: WaitMode;
      readonly timeoutMs?: number;
      readonly memo?: Json;
    };

export interface SentText {
  /** The key of the event that will have the text; empty for the run's ending. */
  readonly key: string;
  readonly type: LiveType;
  /** Rises with each text that the run begins. */
  readonly attempt: number;
  /** The length of the text before the part, in UTF-16 units. */
  readonly offset: number;
  readonly text: string;
}

/** Whether a part was shown. */
export interface ShownText {
  readonly isWatched: boolean;
  /** Where the next part begins: before the end of this one when a watcher lacks parts before it. */
  readonly nextOffset: number;
}

export interface RemoteWorker {
  readonly spaceId: string;
  readonly credential: WorkerCredential;
}

/** What a poll narrows its credential to; an empty list: all that the credential has. */
export interface WantedRuns {
  readonly profiles: readonly string[];
  readonly labels: readonly string[];
}

/** How a poll waits: for the first run at most `waitMs`, for at most `max` runs, from 1 to 32. */
export interface PollLimits {
  readonly max: number;
  readonly waitMs: number;
}

export interface RunRef {
  readonly taskId: string;
  readonly fence: number;
}

export interface RunState {
  /** Why the worker must drop the run; null while the run is the worker's. */
  readonly stop: "stopped" | "deleted" | "lost" | null;
  readonly newMessages: readonly EventPayloads["user_message"][];
}

export interface AppendResponse {
  /** The numbers of the events, in their order. */
  readonly numbers: readonly number[];
  /** Set when a budget was overdrawn: the run has ended. */
  readonly stop: "spent" | null;
}

export interface ToolCall {
  readonly uid: string;
  readonly tool: string;
  readonly input: JsonObject;
}

export interface SentFile extends FileName {
  /** Its bytes; null when the worker PUTs them later. */
  readonly content: Uint8Array | null;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
}

/**
 * The operations of remote workers. Each makes its own changes, and has the same result when it is
 * called again, so it needs no idempotency record.
 *
 * All of them throw Failure `failed_precondition` naming `fence` when the run is no longer
 * the worker's, and `not_found` for a task outside of its space.
 */
export interface RemoteRuns {
  /**
   * Waits for a run. Returns those that are there by then, within the limits; none when there is none in
   * time.
   *
   * @throws Failure `permission_denied` for a profile or a label that the credential does not have,
   * `resource_exhausted` when too many polls are held.
   */
  poll(
    worker: RemoteWorker,
    call: OpenCall,
    wanted: WantedRuns,
    limits: PollLimits,
  ): Promise<readonly RemoteRun[]>;
  /** Renews the lease of the run; never throws because of an old fence. */
  heartbeat(worker: RemoteWorker, run: RunRef): Promise<RunState>;
  /** @throws Failure `already_exists` for a key with other content. */
  append(
    worker: RemoteWorker,
    run: RunRef,
    events: readonly SentEvent[],
    spent: ReportedUsage,
  ): Promise<AppendResponse>;
  /**
   * Returns the next run to continue with, or null. @param digest of the sent content. @throws Failure
   * `already_exists` when it was finished with another outcome.
   */
  finish(
    worker: RemoteWorker,
    run: RunRef,
    outcome: SentOutcome,
    spent: ReportedUsage,
    digest: string,
  ): Promise<RemoteRun | null>;
  /** Shows a part of a text to the task's watchers; nothing is written. @throws Failure `rate_limited` */
  writeText(worker: RemoteWorker, run: RunRef, sent: SentText): Promise<ShownText>;
  /** The id of a file, and the URL that its bytes are PUT to; null when they were sent in the request. */
  upload(
    worker: RemoteWorker,
    run: RunRef,
    file: SentFile,
  ): Promise<{ uploadId: string; url: string | null }>;
  /**
   * Uses a tool, on every call. @throws Failure `failed_precondition` naming `tool` or `connector_id` when
   * the user has to act first.
   */
  callTool(worker: RemoteWorker, run: RunRef, call: ToolCall, gone: AbortSignal): Promise<ToolAnswer>;
  /**
   * Begins a subtask, once for each key.
   *
   * @throws Failure `failed_precondition` naming `task_id` for a subtask that is three deep,
   * `resource_exhausted` at a limit of subtasks, `already_exists` for a key with other content,
   * `invalid_argument` for a text that users could not send either.
   */
  startSubtask(worker: RemoteWorker, run: RunRef, input: SubtaskInput): Promise<StartedSubtask>;
  release(worker: RemoteWorker, run: RunRef): Promise<void>;
}
