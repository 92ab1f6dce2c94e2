import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import type { OutputContent, OutputItem } from "../v1/task-object.ts";

/** A file behind a link, in OpenAI's form. */
export interface Citation {
  readonly type: "url_citation";
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

/**
 * The answer's text with the list that SDK helpers read, another text, a value that could not be extracted,
 * or a file behind a link.
 */
export type Part =
  | (Extract<OutputContent, { type: "output_text" }> & { readonly annotations: readonly Citation[] })
  | { readonly type: "input_text" | "text"; readonly text: string }
  | { readonly type: "refusal"; readonly refusal: string }
  | Exclude<OutputContent, { type: "output_text" }>;

/** A message of user or assistant in the Responses API (spec/v1.md 7.3). */
export type Message = Omit<OutputItem, "content"> & {
  readonly content: readonly Part[];
  /** In OpenAI's form, of a turn with a structured output. */
  readonly phase?: "commentary" | "final_answer";
  /** The text of commentary. */
  readonly summary?: readonly { type: "summary_text"; text: string }[];
};

/** The status values of the platform, which differ from those of the SDK (spec/v1.md 7.3). */
export type ResponseStatus = "running" | "pending" | "completed" | "error";

/** Whose form responses have: that of the hosted API, or OpenAI's. */
export const forms = ["platform", "openai"] as const;
export type Form = (typeof forms)[number];

/** Why a turn ended without being finished. */
export type Unfinished = "question" | "confirmation" | "stop";

export interface ResponseState {
  readonly status: ResponseStatus;
  /** The user's stop ended the turn. */
  readonly isStopped?: true;
  readonly error: { code: string; message: string } | null;
  readonly incomplete_details: { reason: Unfinished } | null;
  /** The complete conversation; in OpenAI's form the assistant's items of this turn. */
  readonly output: readonly Message[];
  /** When the turn was finished, in Unix seconds. Only in OpenAI's form. */
  readonly completedAt?: number;
}

/** Collects the output of a task in a form, from the first event on. */
export interface Output {
  readonly form: Form;
  /** Adds an event, and returns the item that it adds. */
  add(event: TaskEvent): Message | undefined;
  items(): readonly Message[];
  /** The output of a turn that ended with a structured output. */
  withResult(): readonly Message[];
  /** The id of the next item of the assistant. Absent where it has the id of its event. */
  nextId?(): string;
}
