import type { JsonObject } from "../json.ts";

/**
 * `system`, `user`, `assistant` and `tool` rows are messages of a request. A `compaction` row changes how
 * older rows are sent, and a `state` row says how far a call of a tool has come; neither is sent.
 */
export type TranscriptRole = "system" | "user" | "assistant" | "tool" | "compaction" | "state";

/**
 * How a call ended. `refused` by a person or a rule, `not_run` because its turn or step ended, `interrupted`
 * by a restart while it ran.
 */
export type CallEnd = "done" | "refused" | "failed" | "not_run" | "interrupted";

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** Members by provider, as the AI SDK gives and takes them. */
export type ProviderOptions = Readonly<Record<string, JsonObject>>;

/** A thought of the model that its service wants to have back. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly providerOptions: ProviderOptions;
}

export interface CallPart {
  readonly type: "tool-call";
  /** Unique in the task, for the model. */
  readonly toolCallId: string;
  readonly toolName: string;
  /** A text that was no JSON object is the member `unreadable`. */
  readonly input: JsonObject;
  /** The `actionId` of its events; absent: it is computed. */
  readonly actionId?: string;
  /** What the model's service wants to have back with the call. */
  readonly providerOptions?: ProviderOptions;
}

export interface ResultPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: { readonly type: "text" | "error-text"; readonly value: string };
  readonly end: CallEnd;
}

/** The definition of a tool, as the model gets it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/**
 * A part of a row. Texts, thoughts, calls and results have the form of the AI SDK's `ModelMessage`.
 * `environment` has the facts that are new or have changed, by their names. `tools` and `mark`, the name
 * around data, are parts of a `system` row, `cleared` of a `compaction` row: the calls whose results are left
 * out. `begun` (the effect of a call starts after this row) and `asked` (the run ends, and the call waits)
 * are parts of a `state` row.
 */
export type TranscriptPart =
  | TextPart
  | ReasoningPart
  | CallPart
  | ResultPart
  | { readonly type: "environment"; readonly values: Readonly<Record<string, string>> }
  | { readonly type: "tools"; readonly tools: readonly ToolDefinition[] }
  | { readonly type: "mark"; readonly mark: string }
  | { readonly type: "cleared"; readonly toolCallIds: readonly string[] }
  | { readonly type: "begun"; readonly toolCallId: string }
  | { readonly type: "asked"; readonly toolCallId: string; readonly by: "confirm" | "wait" };

/**
 * A message of a task's transcript: what its model was given and has answered. Only rows are added
 * (docs/internals/agents.md).
 */
export interface TranscriptRow {
  readonly taskId: string;
  /** From 0, without gaps. */
  readonly position: number;
  readonly spaceId: string;
  /** The turn that wrote it: the task's `consumedSeq`. */
  readonly turn: number;
  /** The last event that it covers. */
  readonly seq: number;
  readonly role: TranscriptRole;
  readonly parts: readonly TranscriptPart[];
  /** The model that answered, or that a system message is for; null for other rows. */
  readonly model: string | null;
  /** The reported tokens of the request, those of them that were cached, and of the answer. */
  readonly inputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly outputTokens: number | null;
  /**
   * What the turn had taken so far: the time of its runs in milliseconds, without waits, and credits. Its
   * limits count these.
   */
  readonly activeMs: number;
  readonly credits: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** The most characters of the JSON of a row's parts. */
export const rowMax = 1024 * 1024;

/** A row that a change adds. Without a `seq` it covers all events of the change. */
export type NewTranscriptRow = Omit<TranscriptRow, "taskId" | "spaceId" | "seq"> & { readonly seq?: number };

/** The transcripts of tasks. Rows are written by `TaskRows.advance`, with the events that they belong to. */
export interface TranscriptRows {
  /** The next rows of a task from a position on, of limited size: at least one, unless there is none. */
  list(taskId: string, from: number): Promise<readonly TranscriptRow[]>;
  deleteOfTask(taskId: string): Promise<void>;
}

/** Reads the complete transcript of a task. */
export async function readTranscript(
  rows: Pick<TranscriptRows, "list">,
  taskId: string,
): Promise<readonly TranscriptRow[]> {
  const found: TranscriptRow[] = [];
  for (;;) {
    const page = await rows.list(taskId, found.length);
    if (page.length === 0) return found;
    found.push(...page);
  }
}
