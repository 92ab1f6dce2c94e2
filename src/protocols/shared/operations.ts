import type { Rights } from "../../pipeline/access.ts";

/** A JSON object: the request or the answer of an operation, in the form of v2. */
export type Json = Readonly<Record<string, unknown>>;

/** An event of a task, as `task.watch` sends it. The member with the name of `type` has the details. */
export interface TaskEvent {
  readonly id: string;
  readonly type: string;
  readonly seq: number;
  readonly [detail: string]: unknown;
}

/** A part of a text that the agent writes now (spec/api.md 8.72). */
export interface TextDelta {
  readonly message_key: string;
  readonly attempt: number;
  readonly offset: number;
  readonly text: string;
  /** Type of the event that will have the text: `assistant_message` or `explanation`. */
  readonly type: string;
}

/** What a watch yields: an event, or a part of a text. */
export type Watched = { readonly event: TaskEvent } | { readonly delta: TextDelta /** The text so far. */; readonly text: string };

/** A file as `file.detail` and the list of files describe it. */
export interface FileDetail {
  readonly id: string;
  readonly filename: string;
  readonly status: string;
  readonly bytes?: number;
  readonly content_type?: string;
  /** Download address; absent before the upload. */
  readonly download_url?: string;
}

export interface FilePage {
  readonly data: readonly FileDetail[];
  readonly has_more: boolean;
  readonly next_cursor?: string;
}

/**
 * The operations of the platform for one caller. The door over HTTP calls them in its process, `atp mcp` over the network.
 * Each method throws `Refusal`, and is cancelled by its signal.
 */
export interface Operations {
  /** What the caller may do. */
  caller(signal: AbortSignal): Promise<Rights>;
  /**
   * Calls an operation of v2 by its name, for instance `task.create`.
   *
   * @param idempotencyKey 1 to 255 visible ASCII characters: a repeated change with the same key has the first answer.
   */
  call(name: string, input: Json, signal: AbortSignal, idempotencyKey?: string): Promise<Json>;
  /** Watches a task from the event after `afterSeq` until it does not run. */
  watch(taskId: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Watched>;
  listFiles(input: Json, signal: AbortSignal): Promise<FilePage>;
  /** The instructions of a skill, its SKILL.md. Only for keys, and for skills that the caller may change. */
  readSkill(skillId: string, signal: AbortSignal): Promise<string>;
  upload(filename: string, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<FileDetail>;
  /** At most `most` bytes from the beginning of a file that an operation returned. */
  download(file: FileDetail, most: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** Operations that know their idempotency records. */
export interface RecordedOperations extends Operations {
  /** Whether a change with this key was made before, by the same request. @throws Refusal `already_exists` after another request. */
  wasMade(name: string, input: Json, signal: AbortSignal, idempotencyKey: string): Promise<boolean>;
}

export class Refusal extends Error {
  /** The code of v2, for instance `not_found`. */
  readonly code: string;
  /** The field at fault, where known. */
  readonly field: string | undefined;
  /** Seconds after which a retry can succeed, where known. */
  readonly retryAfter: number | undefined;

  constructor(
    code: string,
    message: string,
    facts: { readonly field?: string | undefined; readonly retryAfter?: number | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.field = facts.field;
    this.retryAfter = facts.retryAfter;
  }
}
