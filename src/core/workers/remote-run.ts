import type { KindName } from "../actions/kind.ts";
import type { WorkerCredential } from "../caller.ts";
import type { ToolAnswer } from "../connectors/server.ts";
import type { UsableConnector } from "../connectors/use.ts";
import type { FileName } from "../files/staging.ts";
import type { Json, JsonObject } from "../json.ts";
import type { OpenCall } from "../open-call.ts";
import type { EventPayloads, NewEvent, TaskEvent } from "../tasks/event.ts";
import type { SubtaskState } from "../tasks/subtasks.ts";

/** A turn of a task as a remote worker is given it. */
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
  readonly earlier: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  readonly asked: readonly EventPayloads["user_message"][];
  /** What the turn has already, with the keys of those that workers wrote. */
  readonly written: readonly WrittenEvent[];
  readonly decisions: readonly { readonly kind: KindName; readonly accepted: boolean; readonly input: JsonObject }[];
  readonly outputSchema: JsonObject | null;
  readonly memo: Json;
  readonly references: readonly string[];
  /** Forced ones first. */
  readonly skills: readonly { readonly id: string; readonly name: string; readonly description: string; readonly forced: boolean }[];
  /** The connectors that it may use, with their tools. */
  readonly connectors: readonly UsableConnector[];
  /** How its subtasks stand; null where it may begin none. */
  readonly subtasks: readonly SubtaskState[] | null;
}

/** An event that the turn has. */
export interface WrittenEvent {
  readonly event: TaskEvent;
  /** Empty where no worker has written it. */
  readonly key: string;
}

/** An event as a worker sends it. */
export interface SentEvent {
  readonly key: string;
  /** SHA-256 of what was sent. */
  readonly digest: string;
  readonly event: NewEvent;
  /** Files to show with it. */
  readonly uploadIds: readonly string[];
  /** The website that it has made. */
  readonly site?: SentSite;
  /** A task that begins with it. */
  readonly subtask?: { readonly id: string; readonly message: string };
}

/** A website as a worker hands it over: `uploadId` is a ZIP of its files. */
export interface SentSite {
  /** The field it came in, for refusals. */
  readonly at: string;
  readonly title: string;
  readonly message: string;
  readonly uploadId: string;
}

/** A subtask as a worker asks for it. */
export interface WantedSubtask {
  /** As an event's. */
  readonly key: string;
  /** SHA-256 of what was sent. */
  readonly digest: string;
  readonly message: string;
}

/** A subtask that was begun. */
export interface BegunSubtask {
  readonly id: string;
  /** The number of the event that tells of it. */
  readonly seq: number;
}

/** What a worker says that its work took. */
export interface Spent {
  readonly credits: number;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly toolCalls: number } | null;
}

/** How a worker ends a turn. */
export type SentOutcome =
  | { readonly kind: "finish"; readonly content: string; readonly uploadIds: readonly string[]; readonly output?: Json }
  | { readonly kind: "fail"; readonly errorType: string; readonly content: string }
  | { readonly kind: "ask"; readonly content: string; readonly options: readonly string[]; readonly memo: Json }
  | {
      readonly kind: "confirm";
      readonly action: KindName;
      readonly variant: string;
      readonly description?: string;
      readonly params?: JsonObject;
    };

/** A worker of a space. */
export interface RemoteWorker {
  readonly spaceId: string;
  readonly credential: WorkerCredential;
}

/** Which run a worker means. */
export interface RunRef {
  readonly taskId: string;
  readonly fence: number;
}

/** How a run stands. */
export interface RunState {
  /** Why it is to be dropped; null while it is the worker's. */
  readonly stop: "stopped" | "deleted" | "lost" | null;
  readonly newMessages: readonly EventPayloads["user_message"][];
}

/** What became of events that were sent. */
export interface Appended {
  /** Their numbers, in their order. */
  readonly numbers: readonly number[];
  /** Set when a budget had not so much: the run has ended. */
  readonly stop: "spent" | null;
}

/** A use of a connector's tool. */
export interface ToolCall {
  /** The connector's. */
  readonly uid: string;
  readonly tool: string;
  readonly input: JsonObject;
}

/** A file of a run that is to be shown. */
export interface SentFile extends FileName {
  /** Its bytes; null: they are PUT. */
  readonly content: Uint8Array | null;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * The work of remote workers. Each makes its own changes, and says the same when it is
 * called again: so it needs no idempotency record.
 *
 * Of all: @throws Failure `precondition` naming `fence` when the run is not the worker's
 * any more, `absent` for a task that is not of its space.
 */
export interface RemoteRuns {
  /** A run, or null. @throws Failure `forbidden` for a profile that the credential has not, `exhausted` when too many polls are held. */
  poll(worker: RemoteWorker, call: OpenCall, profiles: readonly string[], waitMs: number): Promise<RemoteRun | null>;
  /** Keeps the run; never throws because of an old fence. */
  heartbeat(worker: RemoteWorker, run: RunRef): Promise<RunState>;
  /** @throws Failure `exists` for a key with other content. */
  append(worker: RemoteWorker, run: RunRef, events: readonly SentEvent[], spent: Spent): Promise<Appended>;
  /** The run to go on with, or null. @param digest of what was sent. @throws Failure `exists` when it was finished otherwise. */
  finish(worker: RemoteWorker, run: RunRef, outcome: SentOutcome, spent: Spent, digest: string): Promise<RemoteRun | null>;
  /** The id of a file, and the address that its bytes are PUT to; null where they came. */
  upload(worker: RemoteWorker, run: RunRef, file: SentFile): Promise<{ readonly uploadId: string; readonly url: string | null }>;
  /** Uses a tool, each time. @throws Failure `precondition` naming `tool` or `connector_id` when the user has to do something first. */
  callTool(worker: RemoteWorker, run: RunRef, call: ToolCall, gone: AbortSignal): Promise<ToolAnswer>;
  /**
   * Begins a subtask, once for each key. @throws Failure `precondition` naming `task_id` in any but an agent's main task,
   * `exhausted` where there is no room, `exists` for a key with other content, `invalid` for a text that users could not send either.
   */
  startSubtask(worker: RemoteWorker, run: RunRef, wanted: WantedSubtask): Promise<BegunSubtask>;
  release(worker: RemoteWorker, run: RunRef): Promise<void>;
}
