import { buffer, text } from "node:stream/consumers";
import type { Blobs } from "../files/blob.ts";
import type { JsonObject } from "../json.ts";

/**
 * `system`, `user`, `assistant` and `tool` rows are messages of a request. An `image` row is a picture of the
 * message or the result before it, and its blob has the bytes. A `compaction` row changes how
 * older rows are sent, and a `state` row says how far a call of a tool has come; neither is sent.
 */
export type TranscriptRole = "system" | "user" | "assistant" | "tool" | "image" | "compaction" | "state";

/**
 * How a call ended. `refused` by a person or a rule, `not_run` because its turn or step ended, `interrupted`
 * by a restart while it ran.
 */
export type CallEnd = "done" | "refused" | "failed" | "not_run" | "interrupted";

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  /** In a user's row: the platform wrote it, not the user. A summary replaces it. */
  readonly by?: "platform";
  /** What the service wants to have back with a text of the model. */
  readonly providerOptions?: ProviderOptions;
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
  /** A text that is not a JSON object is the member `unreadable`. */
  readonly input: JsonObject;
  /** The `actionId` of its events; absent: it is computed. */
  readonly actionId?: string;
  /** The answer reached its output limit within this call, its last part. */
  readonly isCut?: true;
  /** What the model's service wants to have back with the call. */
  readonly providerOptions?: ProviderOptions;
}

export interface ResultPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: { readonly type: "text" | "error-text"; readonly value: string };
  readonly end: CallEnd;
  /** The complete text of a result that is too long for a request: `output` has its head and its tail. */
  readonly whole?: string;
}

/** What the model gets of a picture: of a picture of a file, or of a page. The only part of an `image` row. */
export interface ImagePart {
  readonly type: "image";
  /** The number of the image in the task, from 1. */
  readonly id: number;
  /** The path of its file, for instance. It is data. */
  readonly name: string;
  readonly mediaType: string;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  /** The call of whose result it is: it is left out with it. Absent: of the user's message. */
  readonly toolCallId?: string;
}

/** The estimated tokens of the request before and after a compaction. */
export interface CompactionTokens {
  readonly before: number;
  readonly after: number;
}

/** The calls whose results are left out from now on, or the images. */
export interface ClearedPart {
  readonly type: "cleared";
  readonly toolCallIds: readonly string[];
  /** The ids of images. */
  readonly images?: readonly number[];
  /** Absent in rows of earlier releases. */
  readonly tokens?: CompactionTokens;
}

/** From now on a summary is sent instead of older rows; the texts of the user stay. */
export interface SummaryPart {
  readonly type: "summary";
  /** The model's text; null when it gave none. */
  readonly text: string | null;
  /** The position of the first row that is sent as it is. */
  readonly from: number;
  /** The position of the first row of which the texts of the user are sent. */
  readonly usersFrom: number;
  readonly tokens: CompactionTokens;
}

/** The definition of a tool, as the model gets it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/**
 * A part of a row. Texts, thoughts, calls and results have the form of the AI SDK's `ModelMessage`.
 * `environment` has the facts that are new or have changed, by their names. Parts of a `system` row are
 * `tools`, `mark` (the name around data) and `images` (the model takes images). `message` is a part of a
 * `user` row: the event of a message that was read within its turn. Parts of a `compaction` row are `cleared`
 * and `summary`. Parts of a `state` row are `begun` (the effect of a call starts after this row) and `asked`
 * (the run ends, and the call waits).
 */
export type TranscriptPart =
  | TextPart
  | ReasoningPart
  | CallPart
  | ResultPart
  | ImagePart
  | { readonly type: "images" }
  | { readonly type: "environment"; readonly values: Readonly<Record<string, string>> }
  | { readonly type: "tools"; readonly tools: readonly ToolDefinition[] }
  | { readonly type: "mark"; readonly mark: string }
  | { readonly type: "message"; readonly seq: number }
  | ClearedPart
  | SummaryPart
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
  /** Empty while they are in the storage. */
  readonly parts: readonly TranscriptPart[];
  /** The bytes of an image, or with the JSON of the parts of a row that is larger than `rowMax`; else null. */
  readonly blobId: string | null;
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

/** The most bytes of the JSON of a row's parts. Larger ones are in the storage. */
export const rowMax = 1024 * 1024;

/**
 * A row that a change adds. Without a `seq` it covers all events of the change. Its parts may have any size
 * until they are staged: then it has a `blobId`, which the change keeps.
 */
export type NewTranscriptRow = Omit<TranscriptRow, "taskId" | "spaceId" | "seq" | "blobId"> & {
  readonly seq?: number;
  readonly blobId?: string | null;
} & ImageBytes;

interface ImageBytes {
  /** The bytes of an `image` row. */
  readonly image?: () => Promise<Uint8Array>;
}

/** The transcripts of tasks. Rows are written by `TaskRows.advance`, with the events that they belong to. */
export interface TranscriptRows {
  /** The next rows of a task from a position on, of limited size: at least one, unless there is none. */
  list(taskId: string, from: number): Promise<readonly TranscriptRow[]>;
  /** The newest compactions of a task, oldest first. */
  compactions(taskId: string, max: number): Promise<readonly Pick<TranscriptRow, "parts" | "createdAt">[]>;
  deleteOfTask(taskId: string): Promise<void>;
}

/** Reads the transcript of a task in order, each row with its parts. */
export type ReadTranscript = (taskId: string) => AsyncIterable<TranscriptRow & ImageBytes>;

export const transcriptReader = (
  rows: Pick<TranscriptRows, "list">,
  blobs: Pick<Blobs, "read">,
): ReadTranscript =>
  async function* (taskId) {
    for (let from = 0; ; ) {
      const page = await rows.list(taskId, from);
      if (page.length === 0) return;
      for (const row of page) {
        const { blobId, role } = row;
        if (blobId === null) yield row;
        else if (role === "image") yield { ...row, image: async () => buffer(await blobs.read(blobId)) };
        else yield { ...row, parts: JSON.parse(await text(await blobs.read(blobId))) };
      }
      from += page.length;
    }
  };
